"""Says in words and numbers what cutoffs would have done, for a page and for its script."""

from __future__ import annotations

from typing import Any

from service.domain.verdict import Outcome
from service.moderation.review.preview_cutoffs import Preview
from service.web.edge.language import gettext, ngettext, up_to_four_digits
from service.web.pages.common.labels import CALLED_HEADINGS


def view_preview(preview: Preview) -> dict[str, Any]:
    """Return what the page and its script show of what cutoffs would have done."""
    counts = preview.counts
    return {
        "held": _held(preview),
        "mistakes": _mistakes(preview),
        "promises": _promises(preview),
        "outcomes": [
            {
                "outcome": outcome.value,
                "name": gettext(name),
                "were": counts.were(outcome),
                "would_be": counts.would_be(outcome),
            }
            for outcome, name in CALLED_HEADINGS.items()
        ],
        "moved": [
            {
                "was": gettext(CALLED_HEADINGS[one.was]),
                "becomes": gettext(CALLED_HEADINGS[one.becomes]),
                "comments": one.comments,
                "approved": one.approved,
                "rejected": one.rejected,
            }
            for one in counts.changed()
        ],
    }


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


def _mistakes(preview: Preview) -> list[str]:
    """Return what moderators ruled against."""
    lost = ngettext(
        "%(num)s comment that moderators approved would be called spam.",
        "%(num)s comments that moderators approved would be called spam.",
        preview.counts.ham_called_spam,
    )
    missed = ngettext(
        "%(num)s comment that moderators rejected would be called ham.",
        "%(num)s comments that moderators rejected would be called ham.",
        preview.counts.spam_called_ham,
    )
    said = ((preview.counts.ham_called_spam, lost), (preview.counts.spam_called_ham, missed))
    return [says for count, says in said if count]


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
