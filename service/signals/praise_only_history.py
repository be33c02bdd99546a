"""Sees praise from an account that has never done anything but praise."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import Conduct, History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.offering import only_praises

# A grateful reader thanks three times without a question; so many are a habit.
_FEWEST = 4
_HALF = 4.0


def praise_only_history(comment: Comment, history: History) -> Signal | None:
    """Fire on praise from an account of whose four earlier comments or more each only praised."""
    conduct = history.conduct
    if conduct is None or conduct.offers or not _FEWEST <= conduct.praises == conduct.remarks:
        return None
    if not only_praises(comment):
        return None
    return Signal(
        name="praise_only_history",
        strength=conduct.praises / (conduct.praises + _HALF),
        reason=f"praises, as all {conduct.praises} earlier comments of its account did",
    )


_PRAISE = "Great post! Thanks for sharing such valuable and informative content."


def _did(remarks: int, praises: int) -> History:
    return History(conduct=Conduct(remarks=remarks, praises=praises))


PRAISE_ONLY_HISTORY = Detector(
    name="praise_only_history",
    detect=praise_only_history,
    fires_on=(
        Example(text=_PRAISE, history=_did(4, 4)),
        Example(text=_PRAISE, history=_did(12, 12)),
        Example(
            text="I really enjoyed reading this, very informative article, keep up the good work.",
            history=_did(5, 5),
        ),
    ),
    silent_on=(
        Example(text=_PRAISE),
        Example(text=_PRAISE, history=_did(3, 3)),
        # One remark with something of its own is enough.
        Example(text=_PRAISE, history=_did(9, 8)),
        Example(text="Great post, but which of the 3 valves is it?", history=_did(9, 9)),
    ),
)
