"""What a person ruled on one comment or on many, and what the site is told to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.comment import Comment, CommentId, SiteId
from service.domain.verdict import Outcome

IMPORT = "import"
"""Who decided what was imported together with its decision."""
EDIT_POLICY = "edit policy: "
"""Begins who decided an edit that keeps a person's ruling; that person's name follows."""
BY_STAFF = "staff, as told by "
"""Begins who approved what nobody but the site's staff let stand; by what it was told follows."""
KEPT_WORDS = "The edit changes nothing but spelling and formatting."
KEPT_FEW_WORDS = "The edit changes a few words and adds no link, contact or offer."
KEPT_BY_STAFF = "Somebody who may moderate at the site made the edit."


class Ruling(StrEnum):
    """The two rulings a moderator can make."""

    APPROVE = "approve"
    REJECT = "reject"


class Action(StrEnum):
    """What the site should do with a comment."""

    PUBLISH = "publish"
    HOLD = "hold"
    REJECT = "reject"


class Mode(StrEnum):
    """How much a site lets verdicts act before a person has looked."""

    OBSERVE = "observe"
    HOLD = "hold"
    ENFORCE = "enforce"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A moderator's ruling; undone decisions stay in the log with the time they were undone.

    `bulk_decision_id` names the act on many comments that it is a part of, if it is.
    """

    id: str
    comment_id: CommentId
    ruling: Ruling
    decided_by: str
    decided_at: datetime
    note: str | None = None
    undone_at: datetime | None = None
    undone_by: str | None = None
    bulk_decision_id: str | None = None


def choose_action(mode: Mode, outcome: Outcome | None, ruling: Ruling | None) -> Action:
    """Return what the site should do now; a person's ruling always wins over the machine.

    Without a verdict yet, everything but *observe* holds the comment: nothing is published
    because something was slow or crashed.
    """
    if ruling is not None:
        return Action.PUBLISH if ruling is Ruling.APPROVE else Action.REJECT
    if mode is Mode.OBSERVE:
        return Action.PUBLISH
    if outcome is Outcome.HAM:
        return Action.PUBLISH
    if outcome is Outcome.SPAM and mode is Mode.ENFORCE:
        return Action.REJECT
    return Action.HOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedComment:
    """A decision, in force or undone, and its comment as it is kept now."""

    decision: Decision
    comment: Comment


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPage:
    """Some decided comments, oldest decision first, and where the next page begins.

    `next_after` is None if the page is empty. Reading to the end takes one empty page.
    """

    decided_comments: tuple[DecidedComment, ...]
    next_after: int | None = None


class ChosenBy(StrEnum):
    """How the comments of a bulk decision were chosen."""

    SELECTION = "selection"
    SEARCH = "search"
    CAMPAIGN = "campaign"


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDecision:
    """One act on many comments, as far as it has come.

    `n_decided` comments were ruled on by it, `n_left_out` were not, or not yet: they were ruled so
    already, withdrawn or not kept. Of the decided ones `n_in_force` stand as they were ruled.
    `site_ids` are the sites of the decided ones, in order. `undone_at` says when it was taken back.
    """

    id: str
    what: ChosenBy
    ruling: Ruling
    decided_by: str
    decided_at: datetime
    n_decided: int = 0
    n_left_out: int = 0
    undone_at: datetime | None = None
    undone_by: str | None = None
    n_in_force: int = field(default=0, metadata={"kept": False})
    site_ids: tuple[SiteId, ...] = field(default=(), metadata={"kept": False})
