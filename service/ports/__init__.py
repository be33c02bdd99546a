"""What use cases need from outside, as Protocols, and the values that stores take and give."""
