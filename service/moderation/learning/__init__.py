"""What follows from decisions: histories, policy, retraining, versions."""
