"""Exports decided comments for training."""

import hashlib
import hmac
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from service.domain.campaign import is_by_person
from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.decision import IMPORT, ChosenBy, Decision, Ruling
from service.domain.form import behaviour_values
from service.domain.user import Role
from service.domain.verdict import Outcome
from service.ports.services import Services
from service.signals.judged_text import judged_text

# The comments that are read at a time: a few megabytes at most.
_PORTION = 200
_LABELS: Mapping[Ruling, str] = {Ruling.REJECT: "spam", Ruling.APPROVE: "ham"}


def decisions_for_training(
    services: Services,
    *,
    sites: Collection[SiteId] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield each decided comment once, in the order of the decisions in force, for a data file.

    `sites` None means all; `since` (inclusive) and `until` (exclusive) limit the decision's time. A
    row has the keys of the data card (`data/README.md`), with the label of the ruling in force, and
    `rulings` (all by people, oldest first), `verdict`, `audit` and `weight`: 1 over `audit_share`
    for the audit sample of confident verdicts, else 1. Withdrawn and erased comments and a policy's
    decisions are left out. A reviewer is a keyed pseudonym: one for each account, one for each way
    in which a site rules. `author_email` has only the domain. Raises `StoreUnavailableError`.
    """
    telling = _RowBuilder(services)
    after: int | None = 0
    while after is not None:
        page = services.decisions.find_in_force(after=after, limit=_PORTION)
        wanted = {
            one.decision.comment_id: one.decision.id
            for one in page.items
            if is_by_person(one.decision)
            and (sites is None or one.comment.site_id in sites)
            and (since is None or one.decision.decided_at >= since)
            and (until is None or one.decision.decided_at < until)
        }
        for case in services.cases.find(list(wanted)) if wanted else ():
            decision = case.decision
            # Ruled on again since the page was read: it comes later.
            if decision is None or decision.id != wanted[case.comment.id]:
                continue
            # Withdrawn and erased comments have no text left, and reactions never had one.
            if case.withdrawn_at is None and judged_text(case.comment).text:
                yield telling.row(case, decision)
        after = page.next_cursor


class _RowBuilder:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._owners = frozenset(
            user.name for user in services.users.all() if user.role is Role.OWNER
        )
        # The decisions of a bulk decision follow each other, so few are needed at a time.
        self._bulk_decision = lru_cache(maxsize=1_000)(services.bulk_decisions.get)
        # A separate key, so that pseudonyms cannot be compared with other hashes.
        self._key = hmac.digest(services.sender_secret, b"reviewers of decisions", "sha256")

    def row(self, case: Case, decision: Decision) -> dict[str, Any]:
        comment, verdict = case.comment, case.verdict
        # The address itself is not for training.
        url = (comment.post.url or "").encode("utf-8", "surrogatepass")
        post_id = None if comment.post.url is None else hashlib.sha256(url).hexdigest()[:16]
        share = self._services.audit_share
        is_sure = verdict and verdict.outcome is not Outcome.UNSURE
        # If the share is 0 now, this comment's share is unknown.
        weight = 1 / share if case.audit and is_sure and share > 0 else 1.0
        return {
            "id": comment.id,
            "text": comment.text,
            "label": _LABELS[decision.ruling],
            "post_title": comment.post.title,
            "post_excerpt": comment.post.excerpt,
            "post_id": post_id,
            "author_name": comment.author.name,
            "author_url": comment.author.url,
            "author_email": f"@{domain}" if (domain := comment.sender.email_domain) else None,
            "form": {
                "seconds_on_page": comment.form.seconds_on_page,
                "honeypot_filled": comment.form.honeypot_filled,
                "behaviour": behaviour_values(comment.form.behaviour),
                "token": comment.form.token,
            },
            "lang": comment.language,
            "date": (comment.written_at or comment.received_at).isoformat(timespec="seconds"),
            "source": f"site:{comment.site_id}",
            "campaign": case.campaign_id,
            "rulings": [
                self._ruling(one, comment.site_id) for one in case.decisions if is_by_person(one)
            ],
            "verdict": verdict
            and {
                "outcome": verdict.outcome.value,
                "p_spam": verdict.p_spam,
                "model_version": verdict.model_version,
                "degraded": verdict.degraded,
                "judged_at": verdict.judged_at.isoformat(),
                "followed": verdict.followed is not None,
            },
            "audit": case.audit,
            "weight": weight,
        }

    def _ruling(self, decision: Decision, site_id: SiteId) -> dict[str, Any]:
        via = self._via(decision)
        has_account = via in ("review", "stroke", "campaign")
        # The key's holder chooses these names freely, so all are one reviewer.
        whose = f"account\0{decision.decided_by}" if has_account else f"site\0{site_id}\0{via}"
        named = whose.encode("utf-8", "surrogatepass")
        return {
            "reviewer": hmac.new(self._key, named, hashlib.sha256).hexdigest()[:32],
            "is_owner": has_account and decision.decided_by in self._owners,
            "ruling": decision.ruling.value,
            "made_at": decision.decided_at.isoformat(),
            "via": via,
            "undone": decision.undone_at is not None,
        }

    def _via(self, decision: Decision) -> str:
        if decision.bulk_decision_id is not None:
            what = self._bulk_decision(decision.bulk_decision_id).what
            return "campaign" if what is ChosenBy.CAMPAIGN else "stroke"
        by = decision.decided_by
        if by == IMPORT:
            return IMPORT
        return {"site": "api", "report": "report"}.get(by.partition(": ")[0], "review")
