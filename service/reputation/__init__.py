"""What senders are remembered by, and lists of them; pure."""
