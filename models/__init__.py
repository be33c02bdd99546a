"""The classifier and its versions; imports nothing else of this project."""
