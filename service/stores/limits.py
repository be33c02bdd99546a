"""Bounds on what one call reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

# A lane is first in, first out, but a batch of workers finishes a little out of order: what was
# queued this much before a comment that is already judged was lost, not merely slower.
OVERTAKEN_BY = timedelta(minutes=1)

# A flood repeats one text many thousand times; whoever looks for one of them needs the newest.
MAX_FOUND_BY_CONTENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLimits:
    """How much of a period of days is looked at where looking costs time for each row.

    The newest `verdicts` for what fired in them, the newest `timed` decisions for how long they
    took; of people's days the `acts` with the most decisions, of campaigns the largest. Of the
    newest `leaned` verdicts those are looked at that decisions moved.
    """

    verdicts: int = 5_000
    timed: int = 20_000
    acts: int = 5_000
    campaigns: int = 10
    leaned: int = 20_000


FIGURE_LIMITS = FigureLimits()
