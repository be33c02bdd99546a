"""Sends the daily digest of waiting comments and held spam."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from service.domain.case import CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.figures import Waiting
from service.domain.user import DigestPlan, HeldSpam, Mail, Permission, Sent, Written
from service.ports.services import Services

log = logging.getLogger(__name__)

# Within one log-odds of the shipped version's spam cutoff, 97.9 %.
_DOUBTFUL_BELOW = 0.992

Write = Callable[[Waiting, HeldSpam, DigestPlan, str], Written]
"""Writes a digest in this language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipient:
    """An account or a chat room, with its sites, its contents and its address."""

    name: str
    site_ids: tuple[SiteId, ...] | None
    language: str
    send: Callable[[str, Written], Sent]


def send_digests(plan: DigestPlan, services: Services, write: Write) -> int:
    """Send today's digest to everybody who has not had it; return how many were accepted.

    Nothing is sent if nothing waits and no held spam is doubtful. May be called at any time by
    several processes: nobody gets two in a day. Raises `StoreUnavailableError`.
    """
    now = services.clock().astimezone(plan.zone)
    if now.hour < plan.hour:
        return 0
    taken = 0
    for recipient in _recipients(plan, services):
        waiting = _waiting(recipient.site_ids, services)
        spam = CaseFilter(site_ids=recipient.site_ids, held_as_spam=True)
        doubtful = replace(spam, p_spam_below=_DOUBTFUL_BELOW)
        held = HeldSpam(number=services.cases.count(spam), doubtful=services.cases.count(doubtful))
        digest = f"{now:%Y-%m-%d}:{recipient.name}"
        if not (waiting.number or held.doubtful) or not services.digest_claims.claim(digest):
            continue
        sent = recipient.send(digest, write(waiting, held, plan, recipient.language))
        if sent.retry:
            services.digest_claims.release(digest)
        taken += sent.problem is None
        log.info(
            "digest not sent" if sent.problem else "digest sent",
            extra={"recipient": recipient.name, "problem": sent.problem or "", "retry": sent.retry},
        )
    return taken


def _recipients(plan: DigestPlan, services: Services) -> Iterator[_Recipient]:
    room, mailer = services.room, services.mailer
    if room is not None:
        yield _Recipient(
            name="room",
            site_ids=None,
            language=plan.language,
            send=lambda _, written: room.post(written.text),
        )
    if mailer is None:
        return

    def mail(address: str, digest: str, written: Written) -> Sent:
        message_id = digest.replace(":", ".")
        return mailer.send(Mail(to=address, message_id=message_id, written=written))

    for user in services.users.all():
        # People who cannot decide what waits are not reminded of it.
        may_decide = user.ended_at is None and user.may(Permission.DECIDE)
        if user.preferences.mail and may_decide:
            yield _Recipient(
                name=user.id,
                site_ids=user.site_ids,
                language=user.preferences.language or plan.language,
                send=partial(mail, user.preferences.mail),
            )


def _waiting(site_ids: tuple[SiteId, ...] | None, services: Services) -> Waiting:
    waits = CaseFilter(site_ids=site_ids, needs_review=True)
    oldest = services.cases.page(waits, order=Order.OLDEST, cursor=None, limit=1).cases
    if not oldest:
        return Waiting()
    return Waiting(number=services.cases.count(waits), oldest=oldest[0].comment.received_at)
