"""Lists every detector; being listed is what gets one run, tested and documented."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.bare_link import BARE_LINK
from service.signals.detector import Detector

DETECTORS: tuple[Detector, ...] = (BARE_LINK,)


def detect_all(comment: Comment, history: History) -> tuple[Signal, ...]:
    """Return what every detector saw in a comment, in the order of the list.

    Never raises, whatever the text: each detector is tested on hostile and random texts.
    """
    found = (detector.detect(comment, history) for detector in DETECTORS)
    return tuple(signal for signal in found if signal is not None)
