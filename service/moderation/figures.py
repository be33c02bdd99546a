"""Counts a period's comments, and previews cutoffs and rules on past comments."""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache

from service.domain.case import CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.figures import CutoffPreview, Scope
from service.domain.published import as_published
from service.domain.rules import Rule, SiteRules
from service.domain.verdict import Outcome
from service.ports.services import Services
from service.scoring.conclude import cutoffs_of
from service.scoring.period import Figures, figures_of
from service.scoring.rules import apply_rules
from service.scoring.weights import Cutoffs, Promise

MAX_DAYS = 90
# Each is at most some 100 kB, and few different ones are requested within a minute.
MAX_REMEMBERED = 64
# Counting takes under a second at 100,000 comments, so a longer wait means many requests.
_PATIENCE_SECONDS = 5.0

_Sites = tuple[SiteId, ...] | None


class FiguresCache:
    """Caches the figures in one process: each is counted at most once a minute, one at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._of_minute = lru_cache(maxsize=MAX_REMEMBERED)(self._count)

    def read(self, site_ids: _Sites, *, days: int) -> Figures:
        """Return the figures of these sites (None: all) for the last `days` UTC days with today.

        They are up to a minute old. Raises `StoreUnavailableError`.
        """
        sites = None if site_ids is None else tuple(sorted(set(site_ids)))
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            raise StoreUnavailableError("others wait for figures already")
        try:
            minute = self._services.clock().replace(second=0, microsecond=0)
            return self._of_minute(sites, days, minute)
        finally:
            self._lock.release()

    def _count(self, sites: _Sites, days: int, _minute: datetime) -> Figures:
        scope = last_days(sites, days, self._services.clock())
        return figures_of(self._services.figures.count(scope), scope)


def last_days(site_ids: tuple[SiteId, ...] | None, days: int, now: datetime) -> Scope:
    """Return the scope of the last `days` UTC days up to `now`, including today."""
    today = datetime.combine(now.astimezone(UTC).date(), time(), tzinfo=UTC)
    return Scope(site_ids=site_ids, since=today - timedelta(days=days - 1), until=now)


# Long enough for rare errors, short enough for present spam.
PREVIEWED = timedelta(days=30)
_RULES_PREVIEWED = timedelta(days=90)
_MAX_PREVIEWED = 5_000
# Without a readable model version everything waits for a person.
_NO_PROMISE = Cutoffs(ham_cutoff=0.0, spam_cutoff=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The outcomes of the last 30 days with other cutoffs, and the serving version's promises.

    `cutoffs` are those in effect; one that is not set is the promised one.
    """

    cutoffs: Cutoffs
    counts: CutoffPreview
    promise: Promise | None


def preview_cutoffs(
    site_id: SiteId, services: Services, *, ham_cutoff: float | None, spam_cutoff: float | None
) -> Preview:
    """Return the outcomes of a site's comments of the last 30 days with these cutoffs.

    None is the serving version's. Raises `NotFoundError`, and `ValueError` as `SiteSettings`.
    """
    site = services.sites.get(site_id)
    promise = services.current_promise()
    settings = replace(site.settings, ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    cutoffs = cutoffs_of(settings, promise.cutoffs if promise else _NO_PROMISE)
    counts = services.cases.cutoff_preview(
        site_id, received_from=services.clock() - PREVIEWED, cutoffs=cutoffs
    )
    return Preview(cutoffs=cutoffs, counts=counts, promise=promise)


@dataclass(slots=True, kw_only=True)
class RulesPreview:
    """The number of `seen` published or rule-held comments, and of those that rules hold.

    People approved and rejected `approved` and `rejected` of those held.
    """

    since: datetime
    seen: int = 0
    held: int = 0
    approved: int = 0
    rejected: int = 0
    by_rule: Counter[Rule] = field(default_factory=Counter)


def preview_rules(site_id: SiteId, rules: SiteRules, services: Services) -> RulesPreview:
    """Apply rules to a site's newest comments of 90 days; decisions count as of now."""
    since = services.clock() - _RULES_PREVIEWED
    criteria = CaseFilter(site_ids=(site_id,), received_from=since)
    page = services.cases.page(criteria, order=Order.NEWEST, cursor=None, limit=_MAX_PREVIEWED)
    cases = page.items[::-1]
    preview = RulesPreview(since=cases[0].comment.received_at if page.next_cursor else since)
    judged = [(case.comment, rules) for case in cases]
    facts_before = services.verdicts.find_rule_facts(judged, before=preview.since)
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
