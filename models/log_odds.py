"""Turns log-odds into probabilities."""

import math

# The logistic function is 0 or 1 to all digits beyond this, and exp() would overflow.
_MAX_LOG_ODDS = 500.0


def logistic(log_odds: float) -> float:
    """Return the probability of a log-odds, without overflow."""
    bounded = min(max(log_odds, -_MAX_LOG_ODDS), _MAX_LOG_ODDS)
    return 1.0 / (1.0 + math.exp(-bounded))
