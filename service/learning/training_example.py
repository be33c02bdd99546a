"""One decision as it teaches at once: who ruled what on which features."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from service.domain.comment import CommentId, SiteId
from service.learning.evidence import Piece

IdArray = npt.NDArray[np.uint32]
FloatArray = npt.NDArray[np.float64]


class Hand(StrEnum):
    """Whose hand a decision is of, as far as trust goes."""

    OWNER = "owner"
    ACCOUNT = "account"
    IMPORT = "import"
    SITE = "site"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What is learnt from and judged by: hashed features, each once, with their values.

    `copies` are keys of which near-copies of the text share at least one; none for short texts.
    """

    ids: IdArray
    values: FloatArray
    copies: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExample:
    """One decision in force. They are learnt in the order of `number`, which is the database's.

    `teacher` names the hand: an account, or a way of a site's (`hand`). `day` is the decision's, in
    days of the calendar. `frozen` is the log-odds that the version gave the comment without any
    learning, and `confident` says that these alone had called it ham or spam. `drawn` is by how
    many comments like it this one was drawn: 1 for what was left unsure, the inverse of the share
    for the audit sample, 0 for what a person went and looked for. `pieces` are its evidence whose
    weights decisions move.
    """

    number: int
    decision_id: str
    comment_id: CommentId
    site_id: SiteId
    is_spam: bool
    hand: Hand
    teacher: str
    day: int
    features: Features
    frozen: float
    confident: bool
    drawn: float
    pieces: tuple[Piece, ...] = ()

    @property
    def contradicts(self) -> bool:
        """Return True if the label contradicts a confident verdict of the frozen version."""
        return self.confident and self.is_spam != (self.frozen > 0.0)
