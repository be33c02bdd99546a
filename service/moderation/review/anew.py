"""Tells waiting comments anew by what was learnt since they were judged; their verdicts stay."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from service.domain.case import Case, CaseFilter, CasePage, Order
from service.domain.comment import CommentId, SiteId
from service.domain.errors import StoreUnavailableError
from service.domain.site import Site
from service.domain.verdict import Outcome, Verdict
from service.learning.features import count_features
from service.learning.judging import lean_anew
from service.learning.taught import Taught
from service.learning.training_example import Features
from service.ports.services import Services
from service.scoring.review_order import review_at
from service.scoring.weights import Cutoffs

# So many of the first in line are told anew for a page. What comes after them stays in its order.
MOST_TOLD = 200
# Features of a comment never change; those of the comments that were looked at last are kept.
_MOST_REMEMBERED = 2_000
# One alone is decided as quickly by itself.
FEWEST_OFFERED = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = re.compile(r"now\.([01])\.(-?[0-9]{1,18})\.([A-Za-z0-9_-]{1,200})", re.ASCII)

_Key = tuple[int, int, CommentId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Waiting comments of one site that would be called `outcome` now, each with its new verdict.

    All were left unsure, and what was learnt since moved them over a cutoff.
    """

    site_id: SiteId
    outcome: Outcome
    cases: tuple[Case, ...]
    now: Mapping[CommentId, Verdict]

    @property
    def least_sure(self) -> float:
        """Return the probability of spam that lies nearest to doubt."""
        found = [self.now[case.comment.id].p_spam for case in self.cases]
        return min(found) if self.outcome is Outcome.SPAM else max(found)


class AnewBook:
    """Verdicts as they would be now, of one process: told once for each state of what is taught."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._taught: Taught | None = None
        self._told: dict[CommentId, Verdict] = {}
        self._features: dict[CommentId, Features] = {}

    def tell(
        self, cases: Sequence[Case], sites: Mapping[SiteId, Site]
    ) -> Mapping[CommentId, Verdict]:
        """Return verdicts as they would be now, of those of the cases that wait for a person.

        Left out is what misses evidence or follows a moderator's entry. Empty where nobody has
        decided anything, and while decisions cannot be read.
        """
        taught = self._current()
        if taught is None:
            return {}
        promise = self._services.judging.current_promise()
        told = {}
        with self._lock:
            if taught is not self._taught:
                self._taught, self._told = taught, {}
            for case in cases:
                verdict, site = case.verdict, sites.get(case.comment.site_id)
                if verdict is None or site is None or not _may_be_told(case, verdict):
                    continue
                now = self._told.get(case.comment.id)
                if now is None:
                    same = promise is not None and promise.version == verdict.model_version
                    now = lean_anew(
                        verdict,
                        site.id,
                        self._features_of(case, taught),
                        taught,
                        promised=promise.cutoffs if promise and same else _cutoffs_of(verdict),
                        settings=site.settings,
                    )
                    self._told[case.comment.id] = now
                told[case.comment.id] = now
        return told

    def page(
        self,
        sites: Mapping[SiteId, Site],
        *,
        site_ids: tuple[SiteId, ...] | None,
        cursor: str | None,
        limit: int,
    ) -> tuple[CasePage, tuple[Moved, ...]]:
        """Return a page of what needs review, and what moved over a cutoff, largest groups first.

        The first `MOST_TOLD` in line stand in the order of their scores of now, and among them
        alone those are looked for that moved. Raises `InvalidInputError` for a cursor that no page
        gave out.
        """
        place = _read_cursor(cursor)
        if (cursor is not None and place is None) or self._current() is None:
            return self._waiting(site_ids, None if place else cursor, limit), ()
        window = self._waiting(site_ids, None, MOST_TOLD)
        told = self.tell(window.cases, sites)
        # No two have one id, so cases themselves are never compared.
        keyed = sorted((_key(case, told), case) for case in window.cases)
        left = [(key, case) for key, case in keyed if place is None or key > place]
        shown = left[:limit]
        following = _write_cursor(shown[-1][0]) if len(left) > limit else window.next_cursor
        page = CasePage(cases=tuple(case for _, case in shown), next_cursor=following)
        return page, _group(window.cases, told)

    def moved(self, sites: Mapping[SiteId, Site], site_id: SiteId) -> tuple[Moved, ...]:
        """Return what of this site moved over a cutoff among the first in line."""
        _, moved = self.page(sites, site_ids=(site_id,), cursor=None, limit=1)
        return moved

    def _current(self) -> Taught | None:
        try:
            taught = self._services.learning.taught()
        except StoreUnavailableError:
            return None
        return taught if taught.learnt else None

    def _waiting(
        self, site_ids: tuple[SiteId, ...] | None, cursor: str | None, limit: int
    ) -> CasePage:
        now = self._services.common.clock()
        criteria = CaseFilter(site_ids=site_ids, needs_review=True, awake_at=now)
        return self._services.review.cases.page(
            criteria, order=Order.REVIEW, cursor=cursor, limit=limit
        )

    def _features_of(self, case: Case, taught: Taught) -> Features:
        comment = case.comment
        found = self._features.get(comment.id)
        if found is None:
            found = count_features(comment, None, taught.salt)
            if len(self._features) >= _MOST_REMEMBERED:
                self._features.clear()
            self._features[comment.id] = found
        return found


def _may_be_told(case: Case, verdict: Verdict) -> bool:
    return case.needs_review and not verdict.degraded and verdict.instruction is None


def _cutoffs_of(verdict: Verdict) -> Cutoffs:
    return Cutoffs(ham_cutoff=verdict.ham_cutoff, spam_cutoff=verdict.spam_cutoff)


def _group(cases: Sequence[Case], told: Mapping[CommentId, Verdict]) -> tuple[Moved, ...]:
    groups: defaultdict[tuple[SiteId, Outcome], list[Case]] = defaultdict(list)
    for case in cases:
        now = told.get(case.comment.id)
        if case.verdict and now and _has_moved(case.verdict, now):
            groups[case.comment.site_id, now.outcome].append(case)
    found = [
        Moved(site_id=site_id, outcome=outcome, cases=tuple(some), now=told)
        for (site_id, outcome), some in groups.items()
        if len(some) >= FEWEST_OFFERED
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.cases), one.site_id, one.outcome)))


def _has_moved(then: Verdict, now: Verdict) -> bool:
    """Say whether what was learnt, no changed cutoff alone, made a doubt a certainty."""
    if then.outcome is not Outcome.UNSURE or now.outcome is Outcome.UNSURE:
        return False
    return (now.p_spam > then.p_spam) == (now.outcome is Outcome.SPAM)


def _key(case: Case, told: Mapping[CommentId, Verdict]) -> _Key:
    """Return where a waiting case stands in line by its score of now; see `review_at`."""
    verdict = case.verdict
    outcome = verdict.outcome if verdict else None
    now = told.get(case.comment.id, verdict)
    at = review_at(
        case.comment.received_at,
        mode=case.mode,
        outcome=outcome,
        p_spam=now.p_spam if now else 0.5,
        reported_as=case.reports[-1].label if case.reports else None,
    )
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return (0 if outcome is Outcome.UNSURE else 1, micros, case.comment.id)


def _write_cursor(key: _Key) -> str:
    return "now." + ".".join(map(str, key))


def _read_cursor(cursor: str | None) -> _Key | None:
    found = _CURSOR.fullmatch(cursor or "")
    return (int(found[1]), int(found[2]), CommentId(found[3])) if found else None
