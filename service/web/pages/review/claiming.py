"""Which comment a review page opens, who looks at which, and what the moderator has skipped."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from flask import session

from service.domain.case import Case, Claim
from service.domain.comment import CommentId
from service.domain.user import Permission
from service.moderation.review.review import claim_comment, claims_of_others
from service.web.edge.current import services
from service.web.pages.common.pages import moderator

_SKIPPED = "skipped"
# They travel in the cookie; by then the first of them may well come round again.
_MOST_SKIPPED = 30


def open_chosen(case: Case) -> Mapping[CommentId, Claim]:
    """Claim the comment that a moderator chose; return somebody else's claim on it."""
    held = _claim(case)
    return {case.comment.id: held} if held and held.user_id != moderator().id else {}


def open_first(cases: Sequence[Case]) -> tuple[Case | None, Mapping[CommentId, Claim]]:
    """Open the first comment that nobody else looks at and that was not skipped.

    Return it with other people's claims on all of these. Where there is none the first one of the
    list is opened, unclaimed.
    """
    ids = [case.comment.id for case in cases]
    claims = dict(claims_of_others(ids, moderator(), services))
    for case in cases:
        if is_free(case, claims):
            held = _claim(case)
            if held is None or held.user_id == moderator().id:
                return case, claims
            # Somebody was quicker by a moment.
            claims[case.comment.id] = held
    return next(iter(cases), None), claims


def is_free(case: Case, claims: Mapping[CommentId, Claim]) -> bool:
    """Return True if a comment may be the next one for this moderator."""
    return case.is_open and case.comment.id not in claims and case.comment.id not in skipped()


def skipped() -> Collection[CommentId]:
    """Return what this moderator has put off in this session."""
    found: list[CommentId] = session.get(_SKIPPED, [])
    return found


def skip(comment_id: CommentId) -> None:
    """Put a comment off: it stands behind the others of its page for this session."""
    others = [one for one in skipped() if one != comment_id]
    session[_SKIPPED] = [*others, comment_id][-_MOST_SKIPPED:]


def skipped_last(cases: Sequence[Case]) -> list[Case]:
    """Return the cases with those that were put off at the end, in the order of skipping."""
    order = {comment_id: number for number, comment_id in enumerate(skipped(), 1)}
    return sorted(cases, key=lambda case: order.get(case.comment.id, 0))


def _claim(case: Case) -> Claim | None:
    if not moderator().may(Permission.DECIDE, case.comment.site_id):
        # Who only looks around is in nobody's way.
        found = claims_of_others([case.comment.id], moderator(), services)
        return found.get(case.comment.id)
    return claim_comment(case, moderator(), services)
