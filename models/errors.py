"""The errors of model versions and classifiers."""


class ModelError(Exception):
    """The base class. Messages name files and fields, never comment text."""


class ModelVersionError(ModelError):
    """A version is missing, was changed or is unreadable; choose another one or train again."""


class ClassifierError(ModelError):
    """A loaded classifier fails; verdicts continue without it, degraded."""
