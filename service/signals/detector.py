"""Detectors: named, pure functions that describe an observation about a comment."""

from collections.abc import Callable
from typing import NamedTuple

from service.domain.comment import Comment
from service.domain.sender import History
from service.domain.text import Phrase
from service.domain.verdict import Signal, Span


class Observation(NamedTuple):
    """What a detector saw; a `Signal` without its name."""

    reason: Phrase
    strength: float = 1.0
    spans: tuple[Span, ...] = ()
    boundaries: tuple[int, ...] = ()

    def named(self, name: str) -> Signal:
        return Signal(name=name, **self._asdict())


class Detector:
    """A decorator that makes a function a detector; its name is the name of the signal."""

    def __init__(self, observe: Callable[[Comment, History], Observation | None]) -> None:
        self.name = observe.__name__
        self._observe = observe

    def __call__(self, comment: Comment, history: History) -> Signal | None:
        """Return the signal of this comment, or None if there is none."""
        observation = self._observe(comment, history)
        return None if observation is None else observation.named(self.name)
