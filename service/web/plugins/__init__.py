"""What people install at their platform to speak to this service."""
