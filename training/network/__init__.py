"""The network: its shape, fine-tuning, export and rounding."""
