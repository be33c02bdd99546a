"""Our own errors, named for what the caller can do about them."""

from collections.abc import Sequence
from dataclasses import dataclass


class ModerationError(Exception):
    """The base of our own errors; one table maps them to HTTP statuses."""


class NotFoundError(ModerationError):
    """The requested thing does not exist, or not for this site."""


class ConflictError(ModerationError):
    """The request contradicts stored data (same key, other content)."""


class NotAuthenticatedError(ModerationError):
    """The request had no valid key."""


class StoreUnavailableError(ModerationError):
    """A store or the queue is unavailable; the same call may succeed later."""


class StoreFullError(StoreUnavailableError):
    """A store's disk or memory is full, so that it accepts no writes."""


class StoreDamagedError(StoreUnavailableError):
    """A store's own files are damaged; only a backup helps."""


class HistoryBlankError(StoreUnavailableError):
    """The history store works, but has lost its data, or was never filled."""


class ModelUnavailableError(ModerationError):
    """The classifier is unavailable; verdicts continue without it, degraded."""


class TrainingFailedError(ModerationError):
    """A training program failed; the message gives the reason in one sentence."""


class TrainingStoppedError(ModerationError):
    """A training program was stopped and can be continued."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of an input: its field, the problem and a remedy."""

    field: str
    problem: str
    remedy: str


class InvalidInputError(ModerationError):
    """The input is refused; the error names every problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{p.field}: {p.problem}" for p in self.problems))


def invalid_input(field: str, problem: str, remedy: str) -> InvalidInputError:
    return InvalidInputError([Problem(field, problem, remedy)])
