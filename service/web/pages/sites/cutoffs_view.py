"""Says in words and numbers what cutoffs would have done, for a page and for its script."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from service.domain.verdict import Outcome
from service.moderation.review.preview_cutoffs import Preview
from service.web.edge.language import (
    gettext,
    ngettext,
    up_to_four_digits,
)
from service.web.pages.common.labels import CALLED_HEADINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """How many comments had an outcome, and would have it."""

    outcome: str
    name: str
    were: int
    would_be: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedRow:
    """How many comments would change from one outcome to another, and what moderators ruled."""

    was: str
    becomes: str
    comments: int
    approved: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewView:
    """What cutoffs would have done. `mistakes` say what moderators ruled against."""

    held: str
    mistakes: tuple[str, ...]
    promises: tuple[str, ...]
    outcomes: tuple[OutcomeRow, ...]
    moved: tuple[MovedRow, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as the page's script reads it."""
        return asdict(self)


def view_preview(preview: Preview) -> PreviewView:
    """Return what a page shows of a preview."""
    counts = preview.counts
    return PreviewView(
        held=_held(preview),
        mistakes=_mistakes(preview),
        promises=_promises(preview),
        outcomes=tuple(
            OutcomeRow(
                outcome=outcome.value,
                name=gettext(name),
                were=counts.were(outcome),
                would_be=counts.would_be(outcome),
            )
            for outcome, name in CALLED_HEADINGS.items()
        ),
        moved=tuple(
            MovedRow(
                was=gettext(CALLED_HEADINGS[one.was]),
                becomes=gettext(CALLED_HEADINGS[one.becomes]),
                comments=one.comments,
                approved=one.approved,
                rejected=one.rejected,
            )
            for one in counts.changed()
        ),
    )


def as_percent(share: float) -> str:
    """Return a cutoff or a rate as people read it; the cutoffs of a version need two decimals."""
    return f"{up_to_four_digits(share * 100)}\u202f%"


def _held(preview: Preview) -> str:
    if not preview.counts.judged:
        return gettext(
            "No comment of the last 30 days has its verdict, so there is nothing to count."
        )
    return ngettext(
        "On the last 30 days these cutoffs would have held %(num)s comment for a person, "
        "%(approved)s of them approved by moderators.",
        "On the last 30 days these cutoffs would have held %(num)s comments for a person, "
        "%(approved)s of them approved by moderators.",
        preview.counts.would_be(Outcome.UNSURE),
        approved=preview.counts.approved_held,
    )


def _mistakes(preview: Preview) -> tuple[str, ...]:
    lost, missed = preview.counts.ham_called_spam, preview.counts.spam_called_ham
    says = []
    if lost:
        says.append(
            ngettext(
                "%(num)s comment that moderators approved would be called spam.",
                "%(num)s comments that moderators approved would be called spam.",
                lost,
            )
        )
    if missed:
        says.append(
            ngettext(
                "%(num)s comment that moderators rejected would be called ham.",
                "%(num)s comments that moderators rejected would be called ham.",
                missed,
            )
        )
    return tuple(says)


def _promises(preview: Preview) -> tuple[str, ...]:
    promise = preview.promise
    if promise is None:
        return ()
    says = []
    if promise.ham_called_spam is not None:
        says.append(
            gettext(
                "Version %(version)s promises that at most %(rate)s of ham is called spam "
                "at its own spam cutoff of %(cutoff)s.",
                version=promise.version,
                rate=as_percent(promise.ham_called_spam),
                cutoff=as_percent(promise.cutoffs.spam_cutoff),
            )
        )
    if promise.spam_called_ham is not None:
        says.append(
            gettext(
                "Version %(version)s promises that at most %(rate)s of spam is called ham "
                "at its own ham cutoff of %(cutoff)s.",
                version=promise.version,
                rate=as_percent(promise.spam_called_ham),
                cutoff=as_percent(promise.cutoffs.ham_cutoff),
            )
        )
    return tuple(says)
