"""Stores comments and queues them for judging; issues and reads the forms' tokens."""

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

# A request queues its comments within milliseconds; after this it has died.
_NEVER_QUEUED_AFTER = timedelta(seconds=5)
# If nothing waits in its lane, a comment that was queued this long ago is lost.
_LOST_AFTER = timedelta(seconds=20)
# With a backlog it may wait long. Queueing it twice is harmless: judged comments are skipped.
_LOST_AFTER_WITH_BACKLOG = timedelta(minutes=15)
_MOST_AT_ONCE = 2_000


def submit_comments(
    comments: Sequence[NewComment],
    services: Services,
    *,
    before_queueing: Callable[[], None] | None = None,
) -> list[Added]:
    """Store the comments, then queue the new ones; return a result for each, in order.

    `before_queueing` is called after the commit. The sweep queues what an outage did not.
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
        # The sweep queues them later. The queue itself logs the outage once.
        return False
    return True


def _mark_queued(ids: Sequence[CommentId], at: datetime | None, services: Services) -> None:
    if not ids:
        return
    try:
        services.comments.mark_queued(ids, at)
    except StoreUnavailableError:
        # They are stored: after an error their site would send them again.
        problem = "queueing was not noted, the sweep may repeat it or be late"
        log.warning(problem, extra={"comments": len(ids)})


def sweep_stranded(services: Services) -> int:
    """Queue stranded comments again and return how many; safe to run at any time and to repeat.

    No comment is lost for good, and none is queued twice within `_LOST_AFTER`.
    """
    now = services.clock()
    waiting = services.queue.depth()
    pending = services.comments.count_pending()
    # With as many ids in a lane as pending comments, the lane holds the seemingly lost ones, or
    # duplicates that are soon skipped; sweeping again and again would only lengthen it.
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
    """Return the comment with everything that will be known about its sender.

    That is looked up now, as the address is not stored. Raises `ValueError` for no IP address.
    """
    sender = make_sender(
        secrets=services.sender_secrets,
        address=address,
        email=email,
        name=comment.author.name,
        site_id=comment.site_id,
        account_id=comment.author.account_id,
    )
    system = services.find_system(address) if address else None
    lists = services.reputation_lists
    # Finding links costs more than all lookups, so it is skipped without domain lists.
    domains = linked_domains(comment) if lists.has(ListKind.DOMAINS) else ()
    mail_domain, at = sender.email_domain, comment.received_at
    listings = lists.find(address=address, domains=domains, mail_domain=mail_domain, at=at)
    return replace(comment, sender=replace(sender, system=system, listings=tuple(listings)))


FORM_FIELD = "slopsieve_form"
"""The hidden field that the page's script adds to a form."""
# The script sends some 900; a longer value is not the script's.
MAX_FIELD_CHARS = 4_000


def issue_token(site: Site, page: str | None, services: Services) -> Mapping[str, object]:
    """Return a token for a form on this page, as JSON."""
    return services.form_challenges.issue(site.id, page=page_key(page), at=services.clock())


def with_token(comment: Comment, sent: str | None, services: Services) -> Comment:
    """Return the comment with the evidence of its form's hidden field `sent`.

    None means that the form may not have the field. If it is empty or malformed, the token is
    missing, provided that the site's forms have tokens. This spends the token, which the same
    comment may send again. While tokens cannot be remembered, there is no evidence.
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
        # Both times by our clock, never by the visitor's.
        ours = read_seconds((services.clock() - found.issued_at).total_seconds())
        behaviour = replace(behaviour or FormBehaviour(), seconds=ours)
    form = replace(comment.form, token=token, behaviour=behaviour or comment.form.behaviour)
    return replace(comment, form=form)


def _judge(
    comment: Comment, services: Services, found: ReadToken | None, *, was_sent: bool
) -> FormToken | None:
    if not was_sent:
        return FormToken.MISSING if services.spent_tokens.are_used_by(comment.site_id) else None
    if found is None:
        return FormToken.FORGED
    if not timedelta() <= services.clock() - found.issued_at <= TOKEN_LIFE:
        return FormToken.LATE
    # Keyed with the token, so that it cannot be compared with a comment's text.
    what = f"{found.id}:{comment.fingerprint()}".encode()
    use = hmac.digest(services.sender_secret, what, "sha256").hex()[:32]
    if not services.spent_tokens.spend(found.id, use=use, site_id=comment.site_id):
        return FormToken.REPLAYED
    page = page_key(comment.post.url)
    if page is not None and found.page is not None and page != found.page:
        return FormToken.ELSEWHERE
    return FormToken.VALID if found.solved else FormToken.UNSOLVED


def _decode(sent: str) -> Mapping[str, object]:
    """Return the members of the field's JSON, none if it is not an object."""
    if not sent or len(sent) > MAX_FIELD_CHARS:
        return {}
    try:
        told = json.loads(base64.b64decode(sent, validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    return {name: value for name, value in told.items() if value is not None}
