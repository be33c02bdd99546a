"""What people install at their platform, and what it says to this service."""
