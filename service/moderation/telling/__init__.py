"""Sites are told what became of their comments."""
