"""Previews rules on a site's last comments."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.domain.case import CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.published import as_published
from service.domain.rules import RuleFacts, RulesPreview, SiteRules
from service.domain.verdict import Outcome
from service.ports.services import Services
from service.scoring.rules import find_rules

PREVIEWED = timedelta(days=90)
MAX_PREVIEWED = 5_000


def preview_rules(site_id: SiteId, rules: SiteRules, services: Services) -> RulesPreview:
    """Return what rules would have held of a site's comments of the last 90 days.

    At most the newest `MAX_PREVIEWED` are looked at, each with what was known when it came.
    Decisions count as of now.
    """
    since = services.common.clock() - PREVIEWED
    criteria = CaseFilter(site_id=site_id, received_from=since)
    page = services.review.cases.page(
        criteria, order=Order.NEWEST, cursor=None, limit=MAX_PREVIEWED
    )
    cases = page.cases[::-1]
    if page.next_cursor:
        since = cases[0].comment.received_at
    asked = [(case.comment, rules) for case in cases]
    preview, here = RulesPreview(since=since), dict[str | None, RuleFacts]()
    for case, before in zip(
        cases, services.judging.rule_facts.find(asked, before=since), strict=True
    ):
        account, verdict = case.comment.sender.account_key, case.verdict
        seen = here.get(account, RuleFacts(first_approved=case.comment.received_at))
        facts = before
        if account in here:
            first = before.first_approved or seen.first_approved
            facts = replace(before, approved=before.approved + seen.approved, first_approved=first)
        if account and as_published(case):
            here[account] = replace(seen, approved=seen.approved + 1)
        if verdict is None or case.withdrawn_at is not None:
            continue
        if verdict.outcome is Outcome.HAM or verdict.held_by:
            held_by = find_rules(verdict, case.comment, rules, facts)
            ruling = case.decision.ruling if case.decision and held_by else None
            preview.seen += 1
            preview.held += bool(held_by)
            preview.approved += ruling is Ruling.APPROVE
            preview.rejected += ruling is Ruling.REJECT
            preview.by_rule.update(held_by)
    return preview
