"""Lets one moderator at a time look at a comment, and tells the others who does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from service.domain.case import Case
from service.domain.claim import Claim
from service.domain.comment import CommentId
from service.domain.errors import StoreUnavailableError
from service.domain.user import User
from service.ports.services import Services

# Three missed renewals of the page's script; without a script, as long as most decisions take.
CLAIM_LASTS = timedelta(seconds=90)


def claim_comment(case: Case, user: User, services: Services) -> Claim | None:
    """Claim a comment for who opens it or still looks at it; return the claim in force then.

    That may be somebody else's. There is none on a comment that is decided or withdrawn, and none
    while the store is away: a claim is a courtesy that never keeps anybody from deciding.
    """
    if not case.is_open:
        return None
    now = services.clock()
    claim = Claim(
        comment_id=case.comment.id,
        user_id=user.id,
        user_name=user.name,
        since=now,
        until=now + CLAIM_LASTS,
    )
    try:
        return services.claims.take(claim)
    except StoreUnavailableError:
        return None


def end_claim(comment_id: CommentId, services: Services, *, user: User | None = None) -> None:
    """End the claim on a comment: this moderator's own, or anybody's once it is decided."""
    try:
        services.claims.end(comment_id, user_id=user.id if user else None)
    except StoreUnavailableError:
        # It ends by itself.
        return


def claims_of_others(
    ids: Sequence[CommentId], user: User, services: Services
) -> Mapping[CommentId, Claim]:
    """Return who else looks at these comments now."""
    try:
        found = services.claims.find(ids, now=services.clock())
    except StoreUnavailableError:
        return {}
    return {one: claim for one, claim in found.items() if claim.user_id != user.id}
