"""Sends the daily digest of waiting comments and held spam."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from service.domain.case import CaseFilter, Order
from service.domain.figures import Waiting
from service.domain.user import DigestPlan, HeldSpam, Mail, Permission, Sent, User, Written
from service.ports.services import Services

log = logging.getLogger(__name__)

# One log-odds and more above the spam cutoffs of the versions so far, 96.6 to 97.9 %.
_DOUBTFUL_BELOW = 0.992

Write = Callable[[Waiting, HeldSpam, DigestPlan, str], Written]


def send_digests(plan: DigestPlan, services: Services, write: Write) -> int:
    """Send today's digest to everybody who has not had it; return how many were accepted.

    Nothing is sent if nothing waits and no held spam is doubtful. May be called at any time by
    several processes: nobody gets two in a day. Raises `StoreUnavailableError`.
    """
    now = services.clock().astimezone(plan.zone)
    if now.hour < plan.hour:
        return 0
    accepted, post_to_chat, send_mail = 0, services.post_to_chat, services.send_mail

    def send(name: str, user: User | None, post: Callable[[str, Written], Sent]) -> bool:
        """Send a digest of the user's sites, of all sites for the chat room."""
        site_ids = user.site_ids if user else None
        waits = CaseFilter(site_ids=site_ids, needs_review=True)
        first = services.cases.page(waits, order=Order.OLDEST, cursor=None, limit=1).items
        oldest = first[0].comment.received_at if first else None
        waiting = Waiting(number=services.cases.count(waits), oldest=oldest)
        spam = CaseFilter(site_ids=site_ids, held_as_spam=True)
        doubtful = replace(spam, p_spam_below=_DOUBTFUL_BELOW)
        held = HeldSpam(number=services.cases.count(spam), doubtful=services.cases.count(doubtful))
        digest = f"{now:%Y-%m-%d}:{name}"
        if not (waiting.number or held.doubtful) or not services.digest_claims.claim(digest):
            return False
        language = (user.preferences.language if user else None) or plan.language
        sent = post(digest, write(waiting, held, plan, language))
        if sent.retry:
            services.digest_claims.release(digest)
        log.info(
            "digest not sent" if sent.problem else "digest sent",
            extra={"recipient": name, "problem": sent.problem or "", "retry": sent.retry},
        )
        return sent.problem is None

    if post_to_chat is not None:
        accepted += send("room", None, lambda _, written: post_to_chat(written.text))
    if send_mail is None:
        return accepted
    for user in services.users.all():
        address = user.preferences.mail
        # People who cannot decide what waits are not reminded of it.
        if address and user.ended_at is None and user.may(Permission.DECIDE):
            accepted += send(user.id, user, partial(_mail, send_mail, address))
    return accepted


def _mail(send_mail: Callable[[Mail], Sent], address: str, digest: str, written: Written) -> Sent:
    return send_mail(Mail(to=address, message_id=digest.replace(":", "."), written=written))
