"""Our own errors, each named for what the caller can do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class ModerationError(Exception):
    """Any refusal that Slopsieve itself raises; one table turns these into HTTP statuses."""


class NotFoundError(ModerationError):
    """The thing asked for does not exist, or not for this site."""


class ConflictError(ModerationError):
    """The request contradicts something already kept (same key, other content)."""


class NotAuthenticatedError(ModerationError):
    """No key or no valid key came with the request."""


class StoreUnavailableError(ModerationError):
    """A store or the queue cannot be reached now; the same call may succeed later."""


class StoreFullError(StoreUnavailableError):
    """A store takes no write for want of room: its disk or its memory is full."""


class StoreDamagedError(StoreUnavailableError):
    """A store's own files are damaged; no call heals that, a backup does."""


class HistoryBlankError(StoreUnavailableError):
    """The history store answers, but has lost what it knew, or was never filled."""


class ModelUnavailableError(ModerationError):
    """The classifier cannot answer; verdicts go on without it, degraded."""


class TrainingFailedError(ModerationError):
    """A training program could not come to its end; the message says why in one sentence."""


class TrainingStoppedError(ModerationError):
    """A training program was stopped; it can be gone on with."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: where, what, and what to do about it."""

    field: str
    problem: str
    remedy: str


class InvalidInputError(ModerationError):
    """The input is refused; every problem is named at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{p.field}: {p.problem}" for p in self.problems))
