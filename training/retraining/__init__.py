"""The parts of a retraining, which `training/retrain.py` runs."""
