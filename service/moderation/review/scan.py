"""Finds a screen of waiting comments that look alike, and settles it in one go."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from service.domain.bulk_decision import BulkDecision, ChosenBy
from service.domain.case import Case, CaseFilter, Order
from service.domain.comment import CommentId, SiteId
from service.domain.errors import InvalidInputError, Problem
from service.domain.scan import SINCERE_BELOW, SPAM_FROM, Band, ScanCheck
from service.domain.verdict import Outcome, Verdict
from service.moderation.review.bulk_decisions import decide_together
from service.ports.services import CommonPorts, ReviewPorts, Services
from service.scoring.scan_steps import count_checks

MAX_SCREEN = 100
# A comment that stands there whole takes a few lines; what is longer is read alone.
MAX_SCANNED_CHARS = 600
# Beyond so many of the first in line nobody waits for a screen to fill.
_MOST_LOOKED_AT = 1_000
_PORTION = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Comments to be scanned together, the most doubtful first, each with its score of now.

    `in_band` counts all that wait in the band, these among them.
    """

    cases: tuple[Case, ...]
    p_spam: Mapping[CommentId, float]
    in_band: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a bulk decision over a screen did; `checks` of it wait to be looked at alone."""

    bulk_decision: BulkDecision
    checks: int


def find_screen(
    band: Band,
    review: ReviewPorts,
    common: CommonPorts,
    *,
    site_ids: tuple[SiteId, ...] | None,
    size: int,
    leave_out: Collection[CommentId] = (),
    tell: Callable[[Sequence[Case]], Mapping[CommentId, Verdict]] = lambda _: {},
) -> Screen:
    """Return the first `size` in line of those that can be scanned.

    Left out is what wants a look of its own: what is longer than `MAX_SCANNED_CHARS`, judged
    without all its evidence, reported by its site, put aside, a check of an earlier bulk decision,
    and what left the band by what was learnt since, as `tell` has it. Raises
    `StoreUnavailableError`.
    """
    criteria = _criteria(band, common, site_ids)
    found: list[Case] = []
    p_spam: dict[CommentId, float] = {}
    cursor, looked_at = None, 0
    while len(found) < size and looked_at < _MOST_LOOKED_AT:
        page = review.cases.page(criteria, order=Order.REVIEW, cursor=cursor, limit=_PORTION)
        told = tell(page.cases)
        checks = review.scan_checks.find([case.comment.id for case in page.cases])
        for case in page.cases:
            now = told.get(case.comment.id, case.verdict)
            if now is None or not band.holds(now.p_spam) or not _is_scanned(case):
                continue
            if case.comment.id not in checks and case.comment.id not in leave_out:
                found.append(case)
                p_spam[case.comment.id] = now.p_spam
        cursor, looked_at = page.next_cursor, looked_at + _PORTION
        if cursor is None:
            break
    shown = found[:size]
    shown.sort(key=lambda case: abs(p_spam[case.comment.id] - 0.5))
    return Screen(cases=tuple(shown), p_spam=p_spam, in_band=review.cases.count(criteria))


def count_band(
    band: Band, review: ReviewPorts, common: CommonPorts, *, site_ids: tuple[SiteId, ...] | None
) -> int:
    """Return how many comments wait in a band."""
    return review.cases.count(_criteria(band, common, site_ids))


def settle_screen(
    band: Band,
    shown: Sequence[CommentId],
    exceptions: Collection[CommentId],
    services: Services,
    *,
    bulk_decision_id: str,
    decided_by: str,
    site_ids: tuple[SiteId, ...] | None = None,
) -> Settled:
    """Rule on all that is shown but the exceptions, and return how it stands then.

    A random few are not ruled: they wait to be looked at alone, unmarked, and tell later whether
    the bulk decision was right. Which ones follows from the bulk decision's id, so that the same
    call again does nothing twice. What somebody has ruled meanwhile is left as it is. Raises
    `InvalidInputError` if nothing is left to rule, or more than `MAX_SCREEN` are shown; else as
    `decide_together`.
    """
    left = [one for one in dict.fromkeys(shown) if one not in set(exceptions)]
    if not left or len(left) > MAX_SCREEN:
        raise InvalidInputError([_NOTHING_LEFT if not left else _TOO_MANY])
    left.sort(key=lambda one: hashlib.sha256(f"{bulk_decision_id} {one}".encode()).digest())
    n_checks = count_checks(len(left)) if len(left) > 1 else 0
    checks, ruled = left[:n_checks], left[n_checks:]
    bulk_decision = decide_together(
        ruled,
        band.ruling,
        services,
        decided_by=decided_by,
        what=ChosenBy.SCAN,
        bulk_decision_id=bulk_decision_id,
        site_ids=site_ids,
        open_only=True,
    )
    seen = [
        case.comment.id
        for case in services.review.cases.find(checks)
        if case.needs_review and (site_ids is None or case.comment.site_id in site_ids)
    ]
    services.review.scan_checks.keep(
        [
            ScanCheck(comment_id=one, bulk_decision_id=bulk_decision.id, ruling=band.ruling)
            for one in seen
        ]
    )
    return Settled(bulk_decision=bulk_decision, checks=len(seen))


def _criteria(band: Band, common: CommonPorts, site_ids: tuple[SiteId, ...] | None) -> CaseFilter:
    return CaseFilter(
        site_ids=site_ids,
        needs_review=True,
        # Audit samples are sure verdicts; they are there to be looked at alone.
        outcome=Outcome.UNSURE,
        degraded=False,
        awake_at=common.clock(),
        p_spam_below=SINCERE_BELOW if band is Band.SINCERE else None,
        p_spam_from=SPAM_FROM if band is Band.SPAM else None,
    )


def _is_scanned(case: Case) -> bool:
    return len(case.comment.text) <= MAX_SCANNED_CHARS and not case.reports


_NOTHING_LEFT = Problem(
    field="except", problem="leaves nothing to decide", remedy="leave one comment unticked"
)
_TOO_MANY = Problem(
    field="shown", problem="holds too many comments", remedy=f"send at most {MAX_SCREEN}"
)
