"""Pure detectors: a comment and its history in, a signal or None out."""
