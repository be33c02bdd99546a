"""What lies in files: reputation lists, model versions."""
