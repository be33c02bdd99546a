"""Bounds on what one call reads."""

from __future__ import annotations

from datetime import timedelta

# A lane is first in, first out, but a batch of workers finishes a little out of order: what was
# queued this much before a comment that is already judged was lost, not merely slower.
OVERTAKEN_BY = timedelta(minutes=1)

# A flood repeats one text many thousand times; whoever looks for one of them needs the newest.
MAX_FOUND_BY_CONTENT = 100

# A site that empties its trash may delete thousands that were never sent here.
MOST_EARLY_DELETIONS = 10_000
