"""Keeps comments and queues them until they are judged; makes and reads the forms' tokens."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from service.domain.comment import Comment, CommentId, Lane, ListKind
from service.domain.errors import StoreUnavailableError
from service.domain.form import (
    TOKEN_LIFE,
    FormBehaviour,
    FormToken,
    ReadToken,
    page_key,
    read_behaviour,
    read_seconds,
)
from service.domain.sender import make_sender
from service.domain.site import Site
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.services import Services
from service.signals.view import linked_domains

log = logging.getLogger(__name__)

# A request queues its comments within milliseconds of keeping them; after this it has died.
_NEVER_QUEUED_AFTER = timedelta(seconds=5)
# With nothing waiting in its lane, what was queued this long ago is neither waiting nor, at any
# sensible batch time, being judged.
_LOST_AFTER = timedelta(seconds=20)
# With a backlog in its lane, a comment may wait long; queueing it again this late is harmless, as a
# comment that already has its verdict is skipped.
_LOST_AFTER_WITH_BACKLOG = timedelta(minutes=15)
_MOST_AT_ONCE = 2_000


def submit_comments(
    comments: Sequence[NewComment],
    services: Services,
    *,
    before_queueing: Callable[[], None] | None = None,
) -> list[Added]:
    """Keep the comments, then queue the new ones; answer for each, in order.

    `before_queueing` is called once they are kept. Returns after the commit. If the queue is away
    the comments are kept all the same, and the sweep queues them later; a repeat is kept and judged
    only once.
    """
    added = services.comments.add(comments, queued_at=services.clock())
    if before_queueing is not None:
        before_queueing()
    refused: list[CommentId] = []
    for lane in Lane:
        new = [
            answer.comment_id
            for comment, answer in zip(comments, added, strict=True)
            if answer.outcome is AddOutcome.NEW and comment.lane is lane
        ]
        if new and not _put(new, lane, services):
            refused += new
    _mark_queued(refused, None, services)
    services.observer.kept(comments, added, at=services.clock())
    return added


def _put(ids: Sequence[CommentId], lane: Lane, services: Services) -> bool:
    try:
        services.queue.put(ids, lane)
    except StoreUnavailableError:
        # The sweep queues them later. The queue itself says that it is away, once.
        return False
    return True


def _mark_queued(ids: Sequence[CommentId], at: datetime | None, services: Services) -> None:
    if not ids:
        return
    try:
        services.comments.mark_queued(ids, at)
    except StoreUnavailableError:
        # They are kept: a refusal now would have their site send them once more.
        problem = "queueing was not noted, the sweep may repeat it or be late"
        log.warning(problem, extra={"comments": len(ids)})


def sweep_stranded(services: Services) -> int:
    """Queue stranded comments again and return how many; safe to run at any time, twice too.

    Each lane is looked at by itself: how long it is and what of it was judged. A comment waits in
    the lane that is kept with it or it is lost; who wants it judged later, keeps it in the slow one
    (`NewComment.lane`). So none is lost for good, and none is queued twice within `_LOST_AFTER`.
    """
    now = services.clock()
    waiting = services.queue.depth()
    pending = services.comments.count_pending()
    # With as many ids in a lane as comments pending, it holds what seems lost, or others twice,
    # and soon gets through those; sweep upon sweep would only make it longer.
    short = [lane for lane in Lane if waiting[lane] < pending[lane]]
    queued = 0
    for lane in short:
        stranded = services.comments.find_stranded(
            lane,
            queued_before=now - (_LOST_AFTER_WITH_BACKLOG if waiting[lane] else _LOST_AFTER),
            received_before=now - _NEVER_QUEUED_AFTER,
            limit=_MOST_AT_ONCE,
        )
        if stranded and _put(stranded, lane, services):
            _mark_queued(stranded, services.clock(), services)
            queued += len(stranded)
    if queued:
        log.warning("stranded comments were queued again", extra={"comments": queued})
    return queued


def with_sender(
    comment: Comment, services: Services, *, address: str | None, email: str | None
) -> Comment:
    """Return the comment with all that will ever be known of who sent it.

    The lists and the autonomous system are looked up now, as the address is forgotten after it.
    Raises `ValueError` for an address that is not an IP address.
    """
    secrets = services.sender_secrets
    sender = make_sender(
        address=address,
        email=email,
        name=comment.author.name,
        secret=secrets.present,
        secret_before=secrets.before,
        site_id=comment.site_id,
        account_id=comment.author.account_id,
    )
    system = services.find_system(address) if address else None
    lists = services.reputation_lists
    # Finding the links costs more than all look-ups together, so nobody looks for nothing.
    domains = linked_domains(comment) if lists.has(ListKind.DOMAINS) else ()
    listings = lists.find(
        address=address,
        domains=domains,
        mail_domain=sender.email_domain,
        at=comment.received_at,
    )
    return replace(comment, sender=replace(sender, system=system, listings=tuple(listings)))


FORM_FIELD = "slopsieve_form"
"""The hidden field that the page's script adds to a form."""
# The script sends some 900; what is longer is not of its making.
MAX_FIELD_CHARS = 4_000


def issue_token(site: Site, page: str | None, services: Services) -> Mapping[str, object]:
    """Return a token for a form on this page, as JSON has it."""
    return services.form_challenges.issue(site.id, page=page_key(page), at=services.clock())


def with_token(comment: Comment, sent: str | None, services: Services) -> Comment:
    """Return the comment with what its form's hidden field tells, `sent` as it came.

    None means that the form is not known to have the field. If it is empty or malformed, the token
    is missing, provided that the site's forms have tokens. The token is spent by this; the same
    comment may bring it again. While nothing remembers tokens, nothing is said of them.
    """
    if sent is None:
        return comment
    told = _decode(sent)
    behaviour = read_behaviour(told.get("behaviour"))
    found = services.form_challenges.read(told, comment.site_id) if "challenge" in told else None
    try:
        token = _judge(comment, services, found, was_sent="challenge" in told)
    except StoreUnavailableError:
        log.warning("a form's token was not looked up", extra={"site_id": comment.site_id})
        token = None
    if found is not None and token is not FormToken.LATE:
        # Our clock at both ends, whatever the visitor's says.
        ours = read_seconds((services.clock() - found.issued_at).total_seconds())
        behaviour = replace(behaviour or FormBehaviour(), seconds=ours)
    form = replace(comment.form, token=token, behaviour=behaviour or comment.form.behaviour)
    return replace(comment, form=form)


def _judge(
    comment: Comment, services: Services, found: ReadToken | None, *, was_sent: bool
) -> FormToken | None:
    """Return what became of a token. Raises `StoreUnavailableError`."""
    if not was_sent:
        is_asked = services.spent_tokens.are_used_by(comment.site_id)
        return FormToken.MISSING if is_asked else None
    if found is None:
        return FormToken.FORGED
    if not timedelta() <= services.clock() - found.issued_at <= TOKEN_LIFE:
        return FormToken.LATE
    # Keyed and of this token alone: nobody can compare it with a comment's words.
    what = f"{found.id}:{comment.fingerprint()}".encode()
    use = hmac.digest(services.sender_secret, what, "sha256").hex()[:32]
    if not services.spent_tokens.spend(found.id, use=use, site_id=comment.site_id):
        return FormToken.REPLAYED
    page = page_key(comment.post.url)
    if page is not None and found.page is not None and page != found.page:
        return FormToken.ELSEWHERE
    return FormToken.VALID if found.solved else FormToken.UNSOLVED


def _decode(sent: str) -> Mapping[str, object]:
    """Return the members of the field's JSON, none for anything else."""
    if not sent or len(sent) > MAX_FIELD_CHARS:
        return {}
    try:
        told = json.loads(base64.b64decode(sent, validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {name: value for name, value in told.items() if value is not None}
