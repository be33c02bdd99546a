"""Previews other cutoffs and rules on a site's last comments."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from service.domain.case import CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem
from service.domain.figures import CutoffPreview
from service.domain.published import as_published
from service.domain.rules import Rule, SiteRules
from service.domain.verdict import Outcome
from service.ports.services import Services
from service.scoring.conclude import cutoffs_of
from service.scoring.rules import apply_rules
from service.scoring.weights import Cutoffs, Promise

# Long enough for rare mistakes to show, short enough to be about today's spam.
PREVIEWED = timedelta(days=30)
_RULES_PREVIEWED = timedelta(days=90)
_MAX_PREVIEWED = 5_000
# What is concluded where no model version can be read: everything is left to a person.
_NO_PROMISE = Cutoffs(ham_cutoff=0.0, spam_cutoff=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What cutoffs would have made of the last 30 days, and what the serving version promises.

    `cutoffs` are those in effect: one that was left open follows the promised one.
    """

    cutoffs: Cutoffs
    counts: CutoffPreview
    promise: Promise | None


def preview_cutoffs(
    site_id: SiteId, services: Services, *, ham_cutoff: float | None, spam_cutoff: float | None
) -> Preview:
    """Return the outcomes of a site's comments of the last 30 days under these cutoffs.

    None follows the serving version's. Comments that were judged without some evidence stay
    unsure. Raises `NotFoundError` for an unknown site, `InvalidInputError` naming everything that
    is wrong with the cutoffs.
    """
    problems = find_cutoff_problems(ham_cutoff, spam_cutoff)
    if problems:
        raise InvalidInputError(problems)
    site = services.sites.get(site_id)
    promise = services.current_promise()
    settings = replace(site.settings, ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    cutoffs = cutoffs_of(settings, promise.cutoffs if promise else _NO_PROMISE)
    counts = services.cases.cutoff_preview(
        site_id, received_from=services.clock() - PREVIEWED, cutoffs=cutoffs
    )
    return Preview(cutoffs=cutoffs, counts=counts, promise=promise)


def find_cutoff_problems(ham_cutoff: float | None, spam_cutoff: float | None) -> list[Problem]:
    """Return all that is wrong with a site's cutoffs, nothing for good ones."""
    problems = [
        Problem(name, "is no probability", "give a number from 0 to 1, or nothing")
        for name, value in (("ham_cutoff", ham_cutoff), ("spam_cutoff", spam_cutoff))
        if value is not None and (math.isnan(value) or not 0.0 <= value <= 1.0)
    ]
    if (
        not problems
        and ham_cutoff is not None
        and spam_cutoff is not None
        and ham_cutoff > spam_cutoff
    ):
        problems.append(
            Problem("ham_cutoff", "lies above the spam cutoff", "give one that is not above it")
        )
    return problems


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
    since = services.clock() - _RULES_PREVIEWED
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
