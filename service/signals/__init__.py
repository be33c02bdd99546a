"""Pure detectors, one a file: a comment and its history in, a signal or None out."""
