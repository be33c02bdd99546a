"""Every detector, one file a family."""
