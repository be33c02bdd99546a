"""What all pages share: sign-in, the bar, marking, words for values."""
