"""Unit tests of the detectors with the text utilities under them."""
