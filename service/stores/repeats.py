"""Recognises repeated comments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.comment import CommentId, SiteId
from service.ports.comments import Added, AddOutcome, NewComment


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The earlier comment that holds a claim, with the fingerprint of its content."""

    comment_id: CommentId
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What one comment lays claim to, as fixed-size digests that any index can hold.

    A digest covers the site as well, so that equal keys of two sites never meet.
    """

    comment_id: CommentId
    fingerprint: str
    idempotency_digest: str | None
    site_comment_digest: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the claims in the order in which they are looked up."""
        digests = (self.idempotency_digest, self.site_comment_digest)
        return (*(d for d in digests if d is not None), f"id:{self.comment_id}")


def claims_of(new: NewComment) -> Claims:
    """Return what this comment lays claim to."""
    comment = new.comment
    return Claims(
        comment_id=comment.id,
        fingerprint=comment.fingerprint(),
        idempotency_digest=None
        if new.idempotency_key is None
        else _digest("key", comment.site_id, new.idempotency_key),
        site_comment_digest=None
        if comment.site_comment_id is None
        else site_comment_digest(comment.site_id, comment.site_comment_id),
    )


def site_comment_digest(site_id: SiteId, site_comment_id: str) -> str:
    """Return the claim that a comment with this id of its site's own lays."""
    return _digest("own", site_id, site_comment_id)


def resolve(claims: Claims, held: Mapping[str, Held]) -> Added:
    """Return the outcome for a comment, given who holds which key.

    Any holder with other content makes it a CONFLICT. A comment under the very same id counts as
    a holder too, so that a call whose answer was lost can be made again.
    """
    holders = [held[name] for name in claims.names if name in held]
    for holder in holders:
        if holder.fingerprint != claims.fingerprint:
            return Added(outcome=AddOutcome.CONFLICT, comment_id=holder.comment_id)
    if holders:
        return Added(outcome=AddOutcome.REPEAT, comment_id=holders[0].comment_id)
    return Added(outcome=AddOutcome.NEW, comment_id=claims.comment_id)


def _digest(kind: str, site_id: SiteId, value: str) -> str:
    return hashlib.sha256(json.dumps([kind, site_id, value]).encode()).hexdigest()
