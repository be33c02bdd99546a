"""Previews rules on a site's last comments."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from service.domain.case import CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.published import as_published
from service.domain.rules import Rule, SiteRules
from service.domain.verdict import Outcome
from service.ports.services import Services
from service.scoring.rules import apply_rules

_PREVIEWED = timedelta(days=90)
_MAX_PREVIEWED = 5_000


@dataclass(slots=True, kw_only=True)
class RulesPreview:
    """What rules would have held of `seen` comments that were published or held by a rule.

    `approved` and `rejected` of those held were ruled so by a person.
    """

    since: datetime
    seen: int = 0
    held: int = 0
    approved: int = 0
    rejected: int = 0
    by_rule: Counter[Rule] = field(default_factory=Counter)


def preview_rules(site_id: SiteId, rules: SiteRules, services: Services) -> RulesPreview:
    """Return how many of a site's newest comments of the last 90 days rules would have held.

    Each is looked at with what was known when it came. Decisions count as of now.
    """
    since = services.clock() - _PREVIEWED
    criteria = CaseFilter(site_id=site_id, received_from=since)
    page = services.cases.page(criteria, order=Order.NEWEST, cursor=None, limit=_MAX_PREVIEWED)
    cases = page.cases[::-1]
    preview = RulesPreview(since=cases[0].comment.received_at if page.next_cursor else since)
    judged = [(case.comment, rules) for case in cases]
    facts_before = services.rule_facts.find(judged, before=preview.since)
    published = defaultdict[str | None, list[datetime]](list)
    for case, facts in zip(cases, facts_before, strict=True):
        verdict, account = case.verdict, case.comment.sender.account_key
        earlier = published[account]
        known = replace(
            facts,
            approved=facts.approved + len(earlier),
            first_approved=facts.first_approved or next(iter(earlier), None),
        )
        if account and as_published(case):
            earlier.append(case.comment.received_at)
        if verdict is None or case.withdrawn_at is not None:
            continue
        if verdict.outcome is Outcome.HAM or verdict.held_by:
            ham = replace(verdict, outcome=Outcome.HAM, held_by=())
            held_by = apply_rules(ham, case.comment, rules, known).held_by
            ruling = case.decision.ruling if case.decision and held_by else None
            preview.seen += 1
            preview.held += bool(held_by)
            preview.approved += ruling is Ruling.APPROVE
            preview.rejected += ruling is Ruling.REJECT
            preview.by_rule.update(held_by)
    return preview
