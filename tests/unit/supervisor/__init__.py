"""What the supervisor is made of, one piece at a time."""
