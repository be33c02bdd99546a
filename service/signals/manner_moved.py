"""Sees a comment written in another manner than its account's earlier ones."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import Conduct, History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.manner import traits_of_manner

_FEWEST = 5
# A few comments that happen to be alike must not make every other one strange.
_SMALLEST_DEVIATION = 0.25
_FAR = 2.0


def manner_moved(comment: Comment, history: History) -> Signal | None:
    """Fire where a longer comment's traits lie two deviations from its account's, on average."""
    conduct = history.conduct
    if conduct is None or conduct.manner_of < _FEWEST:
        return None
    traits = traits_of_manner(comment)
    far = [
        abs(trait - mean) / max(deviation, _SMALLEST_DEVIATION)
        for trait, (mean, deviation) in zip(traits, conduct.manner, strict=False)
    ]
    distance = sum(far) / len(far) if far else 0.0
    if distance < _FAR:
        return None
    return Signal(
        name="manner_moved",
        strength=min(1.0, distance / (2 * _FAR)),
        reason="is written in another manner than the earlier comments of its account",
    )


_CALM = (
    "When I opened the third valve, which had been stuck since the winter, the pump went quiet for"
    " the first time in years, and the radiator under the window became warm again overnight."
)
_LOUD = (
    "wow! so good! i tried it! it works! you all should! go now! do it! best day! thanks! wow! yes!"
    " so so good!"
)
_HISTORY = History(
    conduct=Conduct(
        remarks=9,
        manner_of=9,
        manner=((2.8, 0.4), (0.9, 0.1), (1.1, 0.3), (0.0, 0.0), (0.0, 0.0)),
    )
)

MANNER_MOVED = Detector(
    name="manner_moved",
    detect=manner_moved,
    fires_on=(
        Example(text=_LOUD, history=_HISTORY),
        Example(text=f"{_LOUD} {_LOUD}", history=_HISTORY),
        Example(text=_LOUD.replace("wow", "great"), history=_HISTORY),
    ),
    silent_on=(
        Example(text=_LOUD),
        Example(text=_CALM, history=_HISTORY),
        # Too short to have a manner.
        Example(text="wow! so good! thanks!", history=_HISTORY),
    ),
)
