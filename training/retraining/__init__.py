"""Retraining on a site's decisions: what teaches, the fit, the comparison, the report."""
