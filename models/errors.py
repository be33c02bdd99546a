"""What can be wrong with a model version or its classifier, named for what the caller can do."""

from __future__ import annotations


class ModelError(Exception):
    """Any refusal of this room. Messages name files and fields, never comment text."""


class ModelVersionError(ModelError):
    """A version is missing, tampered with or unreadable; choose another one or train again."""


class ClassifierError(ModelError):
    """A loaded classifier cannot answer; verdicts can go on without it, degraded."""
