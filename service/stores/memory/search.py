"""Finds comments, keeps views and tells of senders in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from service.domain.case import Case, CasePage, Order
from service.domain.comment import Comment, CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.saved_view import SavedView
from service.domain.search import Field, SearchQuery, Term
from service.domain.sender_record import (
    MAX_COUNTED,
    MAX_LAST,
    MAX_LINKED_DOMAINS,
    MAX_OTHER_NAMES,
    SenderRecord,
    Trait,
    TraitRecord,
    keys_of,
    person_keys,
)
from service.ports.audit import AuditEntry
from service.reputation.linked_domains import linked_domains
from service.stores.cursor import Place, decode_cursor, encode_cursor
from service.stores.search_terms import case_terms, hosts_of, needs_of, satisfies

_AllCases = Callable[[], list[Case]]
_KEYS = {
    Trait.ADDRESS: "address_key",
    Trait.NETWORK: "network_key",
    Trait.EMAIL: "email_key",
    Trait.NAME: "name_key",
}


class MemoryCaseSearch:
    """Finds comments in memory, without delay; see `CaseSearch`."""

    def __init__(self, all_cases: _AllCases) -> None:
        self._all_cases = all_cases

    def take_in(self, *, limit: int) -> int:
        """See `CaseSearch.take_in`."""
        del limit
        return 0

    def drop_left_out(self) -> None:
        """See `CaseSearch.drop_left_out`."""

    def find(
        self,
        query: SearchQuery,
        *,
        site_ids: Sequence[SiteId] | None,
        cursor: str | None,
        limit: int,
    ) -> CasePage:
        """See `CaseSearch.find`."""
        after = None if cursor is None else decode_cursor(cursor, Order.NEWEST)
        cases = self._matching(query, site_ids)
        if after is not None:
            cases = [c for c in cases if _moment(c) < (after.at, after.comment_id)]
        page = tuple(cases[:limit])
        if len(cases) <= limit:
            return CasePage(cases=page)
        at, comment_id = _moment(page[-1])
        place = Place(rank=0, at=at, comment_id=comment_id)
        return CasePage(cases=page, next_cursor=encode_cursor(place, Order.NEWEST))

    def ids(
        self, query: SearchQuery, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[CommentId]:
        """See `CaseSearch.ids`."""
        return [case.comment.id for case in self._matching(query, site_ids)[:limit]]

    def count(self, query: SearchQuery, *, site_ids: Sequence[SiteId] | None, limit: int) -> int:
        """See `CaseSearch.count`."""
        return min(limit, len(self._matching(query, site_ids)))

    def _matching(self, query: SearchQuery, site_ids: Sequence[SiteId] | None) -> list[Case]:
        needs = needs_of(query)
        cases = [
            case
            for case in _visible(self._all_cases(), site_ids)
            if _is_of_time(case, query)
            and _stands_so(case, query)
            and satisfies(case_terms(case), needs)
        ]
        return sorted(cases, key=_moment, reverse=True)


class MemorySavedViewStore:
    """Keeps views in memory; see `SavedViewStore`."""

    def __init__(self, audit_log: list[AuditEntry]) -> None:
        self._views: dict[str, SavedView] = {}
        self._audit_log = audit_log

    def put(self, view: SavedView) -> None:
        """See `SavedViewStore.put`."""
        self._views[view.id] = view

    def get(self, view_id: str) -> SavedView | None:
        """See `SavedViewStore.get`."""
        return self._views.get(view_id)

    def remove(self, *view_ids: str, act: AuditEntry | None = None) -> None:
        """See `SavedViewStore.remove`."""
        for view_id in view_ids:
            self._views.pop(view_id, None)
        self._audit_log.extend([act] if act else [])

    def all(self) -> list[SavedView]:
        """See `SavedViewStore.all`."""
        return sorted(self._views.values(), key=lambda view: view.id)

    def visible_to(self, owner_id: str) -> list[SavedView]:
        """See `SavedViewStore.visible_to`."""
        views = [v for v in list(self._views.values()) if v.shared or v.owner_id == owner_id]
        return sorted(views, key=lambda view: (view.name, view.id))


class MemorySenderRecords:
    """Tells of senders from memory; see `SenderRecords`."""

    def __init__(self, all_cases: _AllCases) -> None:
        self._all_cases = all_cases

    def look_up(self, comment: Comment, *, site_ids: Sequence[SiteId] | None) -> SenderRecord:
        """See `SenderRecords.look_up`."""
        others = [c for c in _visible(self._all_cases(), site_ids) if c.comment.id != comment.id]
        others.sort(key=_moment, reverse=True)
        traits = [
            _record(trait, keys[0], (c for c in others if _key(c, trait) in keys))
            for trait, keys in keys_of(comment).items()
        ]
        traits += [
            _record(Trait.DOMAIN, domain, (c for c in others if domain in hosts_of(c.comment)))
            for domain in linked_domains(comment)[:MAX_LINKED_DOMAINS]
        ]
        personal = person_keys(comment)
        own = [c for c in others if any(_key(c, trait) in keys for trait, keys in personal.items())]
        names = [] if Trait.NAME in personal else [c.comment.author.name for c in own[:MAX_COUNTED]]
        other_names = dict.fromkeys(n for n in names if n and n != comment.author.name)
        return SenderRecord(
            traits=tuple(traits),
            other_names=tuple(islice(other_names, MAX_OTHER_NAMES)),
            last=tuple(own[:MAX_LAST]),
        )


def _record(trait: Trait, key: str, cases: Iterable[Case]) -> TraitRecord:
    found = list(cases)
    counted = found[:MAX_COUNTED]
    rulings = [case.decision.ruling for case in counted if case.decision]
    return TraitRecord(
        trait=trait,
        key=key,
        seen=len(counted),
        approved=rulings.count(Ruling.APPROVE),
        rejected=rulings.count(Ruling.REJECT),
        waiting=sum(case.needs_review for case in counted),
        capped=len(found) > MAX_COUNTED,
    )


def _key(case: Case, trait: Trait) -> str | None:
    key: str | None = getattr(case.comment.sender, _KEYS[trait])
    return key


def _visible(cases: Iterable[Case], site_ids: Sequence[SiteId] | None) -> Iterator[Case]:
    for case in cases:
        if case.withdrawn_at is None and (site_ids is None or case.comment.site_id in site_ids):
            yield case


def _moment(case: Case) -> tuple[datetime, CommentId]:
    return (case.comment.received_at, case.comment.id)


def _is_of_time(case: Case, query: SearchQuery) -> bool:
    at = case.comment.received_at
    if query.received_from is not None and at < query.received_from:
        return False
    return query.received_before is None or at < query.received_before


def _stands_so(case: Case, query: SearchQuery) -> bool:
    """Say whether decision and reports are as asked for."""
    for field, holds in ((Field.DECISION, _is_ruled), (Field.BY, _is_by)):
        terms = query.of(field)
        wanted = [term for term in terms if not term.negated]
        if wanted and not any(holds(case, term) for term in wanted):
            return False
        if any(holds(case, term) for term in terms if term.negated):
            return False
    return all(_is_reported(case, t) is not t.negated for t in query.of(Field.REPORTED))


def _is_ruled(case: Case, term: Term) -> bool:
    ruling = case.decision.ruling.value if case.decision else "none"
    return ruling == term.value


def _is_by(case: Case, term: Term) -> bool:
    by = case.decision.decided_by if case.decision else None
    return by is not None and by.lower() == term.value.lower()


def _is_reported(case: Case, term: Term) -> bool:
    said = case.reports[-1].label.value if case.reports else None
    if term.value in ("yes", "no"):
        return (said is not None) is (term.value == "yes")
    return said == term.value
