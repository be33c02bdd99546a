"""Pure arithmetic over evidence: weights, policy, cutoffs, metrics, explanation."""
