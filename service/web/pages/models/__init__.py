"""Model versions and retrainings."""
