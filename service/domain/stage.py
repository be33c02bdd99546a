"""Names the parts of a comment's way whose time is measured."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A part of a comment's way. The last five are spent by a batch together.

    `KEEP` is from its coming in to its being kept and queued, `WAIT` from its coming in to the
    beginning of its batch, `VERDICT` from its coming in to its verdict being stored.
    """

    KEEP = "keep"
    WAIT = "wait"
    VERDICT = "verdict"
    GATHER = "gather"
    CLASSIFY = "classify"
    DETECT = "detect"
    CONCLUDE = "conclude"
    STORE = "store"


BATCH_STAGES = (Stage.GATHER, Stage.CLASSIFY, Stage.DETECT, Stage.CONCLUDE, Stage.STORE)
