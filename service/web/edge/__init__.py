"""What every request meets first: keys, limits, bounds, errors, headers, health."""
