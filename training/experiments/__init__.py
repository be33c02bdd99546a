"""Studies that neither training nor retraining calls."""
