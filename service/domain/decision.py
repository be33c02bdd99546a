"""Rulings of people on one comment or many, and the resulting actions of sites."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.comment import Comment, CommentId, SiteId
from service.domain.verdict import Outcome

IMPORT = "import"
EDIT_POLICY = "edit policy: "
"""The prefix of the actor of an edit that keeps a person's ruling; the person follows."""
BY_STAFF = "staff, as told by "
"""The prefix of the actor of an approval by the site's staff; its source follows."""
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
    """A moderator's ruling. An undone one stays, with the time of its undo."""

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
    """Return the site's action; a person's ruling always overrides the verdict.

    Without a verdict, every mode but *observe* holds the comment, so that a delay or a crash never
    publishes.
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
    """A decision, in force or undone, and its comment as it is stored now."""

    decision: Decision
    comment: Comment


class ChosenBy(StrEnum):
    SELECTION = "selection"
    SEARCH = "search"
    CAMPAIGN = "campaign"


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDecision:
    """One act on many comments, with its progress.

    It ruled on `n_decided` comments, and not, or not yet, on `n_left_out`: they were ruled so
    already, withdrawn or unknown. Of the decided ones `n_in_force` still are as it ruled.
    `site_ids` are the sites of the decided ones, in order. `undone_at` is the time of its undo.
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
