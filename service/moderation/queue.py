"""Lists and searches comments for moderators, and manages claims."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from service.domain.case import Case, Claim
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, Ruling
from service.domain.errors import ConflictError, NotFoundError, StoreUnavailableError, invalid_input
from service.domain.page import Page, all_items
from service.domain.search import Field, SearchQuery, Term, parse_search
from service.domain.site import Site
from service.domain.user import User
from service.moderation.acts import record_act
from service.moderation.decisions import decide_together
from service.ports.services import Services

# Three missed renewals by the page's script, and the time of most decisions without a script.
CLAIM_LASTS = timedelta(seconds=90)


def claim_comment(case: Case, user: User, services: Services) -> Claim | None:
    """Claim a comment for a moderator; return the claim in force, perhaps another's.

    Returns None for a decided or withdrawn comment, and while the store is unavailable: claims
    never prevent decisions.
    """
    if not case.is_open:
        return None
    now = services.clock()
    claim = Claim(
        comment_id=case.comment.id,
        user_id=user.id,
        user_name=user.name,
        since=now,
        until=now + CLAIM_LASTS,
    )
    try:
        return services.claims.take(claim)
    except StoreUnavailableError:
        return None


def end_claim(comment_id: CommentId, services: Services, *, user: User | None = None) -> None:
    """End the claim on a comment: the user's own, or anybody's once it is decided."""
    # If the store is unavailable, the claim expires.
    with suppress(StoreUnavailableError):
        services.claims.end(comment_id, user_id=user.id if user else None)


def claims_of_others(
    ids: Sequence[CommentId], user: User, services: Services
) -> Mapping[CommentId, Claim]:
    try:
        found = services.claims.find(ids, now=services.clock())
    except StoreUnavailableError:
        return {}
    return {one: claim for one, claim in found.items() if claim.user_id != user.id}


# Larger counts are shown as "more than".
MAX_COUNTED = 10_000
# Nobody can have looked at more comments than this.
MAX_DECIDED = 5_000
_MAX_EXPORTED = 1_000_000
# Exported comments are read in portions.
_PORTION = 200
# So that comments received at this very moment are found.
_MOMENT = timedelta(microseconds=1)

_Sites = tuple[SiteId, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One page of results; `count` is at most `MAX_COUNTED`, and `more` says so.

    `n_decided` have a decision, 0 for too many. Comments after `until`, the search, are left out.
    """

    page: Page[Case, str]
    count: int
    more: bool
    n_decided: int
    until: datetime


def find_comments(
    line: str, services: Services, *, user: User, cursor: str | None, limit: int
) -> Found:
    """Return the results of a search line among the comments that the account sees.

    Raises one `InvalidInputError` with every problem of the line, and for a cursor of another list.
    """
    until = services.clock() + _MOMENT
    query, site_ids = _read_line(line, until, services, user=user)
    page = services.search.find(query, site_ids=site_ids, cursor=cursor, limit=limit)
    count = services.search.count(query, site_ids=site_ids, limit=MAX_COUNTED + 1)
    return Found(
        page=page,
        count=min(count, MAX_COUNTED),
        more=count > MAX_COUNTED,
        n_decided=_count_decided(query, site_ids, count, services),
        until=until,
    )


def _count_decided(query: SearchQuery, site_ids: _Sites, count: int, services: Services) -> int:
    """Return how many results have a decision, 0 if they cannot be decided together."""
    asked = {(term.value, term.negated) for term in query.of(Field.DECISION)}
    if count > MAX_DECIDED or asked == {("none", False)}:
        return 0
    if asked and ("none", False) not in asked and any(not negated for _, negated in asked):
        return count
    is_decided = Term(field=Field.DECISION, value="none", negated=True)
    decided = replace(query, terms=(*query.terms, is_decided))
    return services.search.count(decided, site_ids=site_ids, limit=MAX_DECIDED + 1)


def decide_found(
    line: str,
    ruling: Ruling,
    services: Services,
    *,
    user: User,
    counted: int,
    decided: int,
    until: datetime,
    bulk_decision_id: str | None = None,
) -> BulkDecision:
    """Rule on all results of a search line, as the page from `until` counted them.

    Raises `ConflictError` if more are found or another number is `decided`, `InvalidInputError` for
    a line that finds too much.
    """
    if not line.strip():
        raise invalid_input("q", "asks for nothing", "say which comments are to be decided")
    query, site_ids = _read_line(line, until, services, user=user)
    ids = services.search.ids(query, site_ids=site_ids, limit=MAX_DECIDED + 1)
    if len(ids) > MAX_DECIDED:
        problem = f"finds more than {MAX_DECIDED:,} comments"
        raise invalid_input("q", problem, "narrow the search before you decide all of them")
    is_repeat = False
    with suppress(NotFoundError):
        is_repeat = bool(bulk_decision_id and services.bulk_decisions.get(bulk_decision_id))
    n_decided = decided if is_repeat else _count_decided(query, site_ids, len(ids), services)
    if len(ids) > counted or n_decided != decided:
        raise ConflictError("the results are not those that were counted on the page")
    return decide_together(
        ids,
        ruling,
        services,
        decided_by=user.name,
        what=ChosenBy.SEARCH,
        bulk_decision_id=bulk_decision_id,
        site_ids=user.site_ids,
    )


def export_found(line: str, form: str, services: Services, *, user: User) -> Iterator[Case]:
    """Yield all results of a search line, the newest first. Raises `InvalidInputError` at once.

    Before that, the log records who exported how many comments, never the search line.
    """
    query, site_ids = _read_line(line, services.clock() + _MOMENT, services, user=user)
    count = services.search.count(query, site_ids=site_ids, limit=_MAX_EXPORTED)
    detail = f"{count} as {form}"
    record_act(services, actor=user.name, act="export", subject="comments", detail=detail)
    # Looked up now: the rows are read after the request has ended.
    find = partial(services.search.find, query, site_ids=site_ids, limit=_PORTION)
    return all_items(lambda cursor: find(cursor=cursor))


def _read_line(
    line: str, until: datetime, services: Services, *, user: User
) -> tuple[SearchQuery, _Sites]:
    """Return a line's query until a moment, and its sites, only those that the account sees.

    Sites are named in any case, or by id. Raises `InvalidInputError`.
    """
    sites = [site for site in services.sites.all() if user.sees(site.id)]
    known = {name for site in sites for name in (site.id, site.name.casefold())}
    query = parse_search(line, sites=known).until(until)
    terms = query.of(Field.SITE)
    if not terms:
        return query, user.site_ids
    wanted = {site for term in terms if not term.negated for site in _named(term, sites)}
    unwanted = {site for term in terms if term.negated for site in _named(term, sites)}
    kept = (wanted or {site.id for site in sites}) - unwanted
    others = tuple(term for term in query.terms if term not in terms)
    return replace(query, terms=others), tuple(sorted(kept))


def _named(term: Term, sites: Sequence[Site]) -> set[SiteId]:
    name = term.value.casefold()
    return {site.id for site in sites if site.id == term.value or site.name.casefold() == name}
