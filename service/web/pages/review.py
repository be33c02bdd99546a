"""The review pages: lists, the opened comment, decisions, and updates of open pages."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeVar

from flask import Flask, current_app, jsonify, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.campaign import FEWEST_SHOWN, WaitingCampaign
from service.domain.case import Case, CaseFilter, Claim, Order, SenderRecord, State
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, Ruling
from service.domain.errors import ConflictError, ModerationError, NotFoundError
from service.domain.user import Permission
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment, find_last_act, refuse_note, undo_as_seen
from service.moderation.queue import claim_comment, claims_of_others, end_claim
from service.moderation.remembering import decisions_behind
from service.web.edge.current import services
from service.web.edge.fields import is_id, read_any_moment
from service.web.pages import forms
from service.web.pages.blueprint import moderator, pages, seen_case
from service.web.pages.bulk_decisions import just_done_bulk_decision, may_undo
from service.web.pages.reject_and_block import reject_and_block_view
from service.web.pages.template_filters import seen_sites

log = logging.getLogger(__name__)

_V = TypeVar("_V")


class Tab(StrEnum):
    NEEDS_REVIEW = "needs-review"
    HELD_AS_SPAM = "held-as-spam"
    SPAM = "spam"
    HAM = "ham"
    DECIDED = "decided"
    ALL = "all"


_FILTERS = {
    Tab.NEEDS_REVIEW: CaseFilter(needs_review=True),
    Tab.HELD_AS_SPAM: CaseFilter(held_as_spam=True),
    Tab.SPAM: CaseFilter(outcome=Outcome.SPAM),
    Tab.HAM: CaseFilter(outcome=Outcome.HAM),
    Tab.DECIDED: CaseFilter(state=State.DECIDED),
    Tab.ALL: CaseFilter(),
}
# The orders of a list, its default first.
_CHOSEN = (Order.DOUBT, Order.OLDEST, Order.SITE)
_SORTS: Mapping[Tab, tuple[Order, ...]] = {
    **dict.fromkeys(Tab, (Order.NEWEST,)),
    Tab.NEEDS_REVIEW: (Order.REVIEW, *_CHOSEN),
    Tab.HELD_AS_SPAM: _CHOSEN,
}
# Numbers are cached this long, except those of the lists that are worked on. With 100,000 comments
# on SQLite the queue takes 0.5 ms, ham 15 ms.
_COUNT_SECONDS = 5.0
_WORKED_AT = (Tab.NEEDS_REVIEW, Tab.HELD_AS_SPAM)
# Skipped comments are stored in the cookie.
_MOST_SKIPPED = 30
_OTHERS_SHOWN = 5
# Threads may be long.
_MOST_ABOVE = 3
PAGE_SIZE = 25
MAX_ROWS = 200
MAX_PREFETCHED = 10
# A comment that was judged just now was received within this time.
_JUDGED_WITHIN = timedelta(minutes=10)
# For a page that was left open overnight.
_LOOKS_BACK = timedelta(hours=1)
_MOST_NEWCOMERS = 500
_STRIPS_SHOWN = 3
_COUNTS = "slopsieve_counts"
_UNDONE = "undo"
_SKIPPED = "skip"
"""Actions without a decision."""
# The page's script requests `list`, one more page of the list, or `result`, that of an action.
_PARTS_HEADER = "X-Parts"
_JUST_DONE = "just_done"


def register_counts(app: Flask) -> None:
    """Cache the numbers of long lists."""
    app.extensions[_COUNTS] = lru_cache(maxsize=512)(_count)


def _count(criteria: CaseFilter, _window: float) -> int:
    return services.cases.count(criteria)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """What the URL of the queue shows: tab, site, cursor and order."""

    tab: Tab = Tab.NEEDS_REVIEW
    site_id: SiteId | None = None
    cursor: str | None = None
    sort: Order | None = None

    @property
    def criteria(self) -> CaseFilter:
        user = moderator()
        site_ids = user.site_ids
        if self.site_id is not None:
            site_ids = (self.site_id,) if user.sees(self.site_id) else ()
        return replace(_FILTERS[self.tab], site_ids=site_ids)

    @property
    def sorts(self) -> tuple[Order, ...]:
        return _SORTS[self.tab]

    @property
    def query(self) -> dict[str, Any]:
        """Return the query of the URL, without defaults."""
        show = None if self.tab is Tab.NEEDS_REVIEW else self.tab.value
        sort = self.sort.value if self.sort else None
        named = {"show": show, "site": self.site_id, "sort": sort, "cursor": self.cursor}
        return {name: value for name, value in named.items() if value}

    @property
    def url(self) -> str:
        return url_for("pages.queue", **self.query)

    @property
    def top(self) -> str:
        return replace(self, cursor=None).url

    def url_of_tab(self, tab: Tab) -> str:
        return replace(self, tab=tab, sort=None, cursor=None).url

    def url_of(self, comment_id: str) -> str:
        return url_for("pages.comment", comment_id=comment_id, **self.query)


def _read_view() -> QueueView:
    site_id = forms.read_token("site")
    tab = request.values.get("show", type=Tab) or Tab.NEEDS_REVIEW
    sort = request.values.get("sort", type=Order)
    return QueueView(
        tab=tab,
        sort=sort if sort in _SORTS[tab][1:] else None,
        site_id=SiteId(site_id) if site_id else None,
        cursor=forms.read_token("cursor"),
    )


@pages.get("/")
def home() -> ResponseReturnValue:
    return redirect(url_for("pages.queue"), HTTPStatus.SEE_OTHER)


@pages.get("/review")
def queue() -> ResponseReturnValue:
    return _show_page()


@pages.get("/review/comments/<id:comment_id>")
def comment(comment_id: str) -> ResponseReturnValue:
    return _show_page(chosen=seen_case(comment_id))


@pages.post("/review/comments/<id:comment_id>/decision", needs=Permission.DECIDE)
def decide(comment_id: str) -> ResponseReturnValue:
    case, ruling = seen_case(comment_id, Permission.DECIDE), forms.read_ruling()
    seen, note = forms.read_token("seen"), forms.read_note()
    refuse_note(note)
    try:
        case = decide_comment(
            case.comment.id,
            ruling,
            services,
            decided_by=moderator().name,
            instead_of=() if seen is None else (seen,),
            note=note,
            # The page's script sends an id, so that it can retry.
            decision_id=forms.read_id("decision"),
        )
    except ConflictError:
        return _show_conflict(case.comment.id, ruling)
    end_claim(case.comment.id, services)
    # The form's decision is the one it names, or the one in force.
    in_force, made = case.decision.id if case.decision else "", forms.read_id("decision")
    is_made = any(one.id == made for one in case.decisions)
    return _tell(case, made if made and is_made else in_force, then=forms.read_token("then"))


@pages.post("/review/comments/<id:comment_id>/undo", needs=Permission.DECIDE)
def undo(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id, Permission.DECIDE)
    try:
        case = undo_as_seen(
            case.comment.id,
            services,
            undone_by=moderator().name,
            seen_decision_id=forms.read_token("seen"),
        )
    except ConflictError:
        return _show_conflict(case.comment.id, None)
    return _tell(case, _UNDONE, then=case.comment.id)


@pages.post("/review/comments/<id:comment_id>/skip", needs=Permission.DECIDE)
def skip(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id)
    end_claim(case.comment.id, services, user=moderator())
    others = [one for one in _skipped() if one != case.comment.id]
    session["skipped"] = [*others, case.comment.id][-_MOST_SKIPPED:]
    return _tell(case, _SKIPPED, then=forms.read_token("then"))


def _tell(case: Case, act: str, *, then: str | None) -> ResponseReturnValue:
    """Return the result to the page's script; without a script redirect to `then`."""
    if _wants_result():
        return _show_result(case, act)
    # The next page shows it. An act is a decision's id, `_UNDONE` or `_SKIPPED`.
    session[_JUST_DONE] = [case.comment.id, act]
    view = _read_view()
    return redirect(view.url_of(then) if then else view.url, HTTPStatus.SEE_OTHER)


def _show_conflict(comment_id: CommentId, ruling: Ruling | None) -> ResponseReturnValue:
    chosen = services.cases.get(comment_id)
    if _wants_result():
        return _show_result(chosen, "", refused=True), HTTPStatus.CONFLICT
    return _show_page(chosen=chosen, refused=ruling or "undo"), HTTPStatus.CONFLICT


@pages.get("/review/counts")
def counts() -> ResponseReturnValue:
    # Automatic requests must not extend the session.
    session.modified = False
    claims = claims_of_others(_ids("id"), moderator(), services)
    response = jsonify(
        counts=_view_values()["counts"],
        new=_find_news(),
        looked_at={one: claim.user_name for one, claim in claims.items()},
    )
    response.add_etag()
    return response.make_conditional(request)


@pages.get("/review/rows")
def rows() -> ResponseReturnValue:
    session.modified = False
    cases = [case for case in services.cases.find(_ids("id")) if _sees(case)]
    return render_template(
        "rows_part.html",
        cases=cases,
        claims=_claims_on(cases),
        news=_find_news(_ids("seen")),
        **_view_values(),
    )


@pages.get("/review/prefetch")
def prefetch() -> ResponseReturnValue:
    session.modified = False
    cases = [case for case in services.cases.find(_ids("id")[:MAX_PREFETCHED]) if _sees(case)]
    claims = _claims_on(cases)
    return render_template(
        "prefetch.html",
        view=_read_view(),
        # Shows who decided them while they were open.
        meanwhile=bool(request.args.get("meanwhile")),
        # This does not claim them.
        prefetched=[_opened_values(case, claims) for case in cases],
    )


@pages.get("/review/last")
def last() -> ResponseReturnValue:
    session.modified = False
    found = find_last_act(moderator().name, services)
    ruled = found if isinstance(found, Case) and _sees(found) else None
    together = found if isinstance(found, BulkDecision) and may_undo(found) else None
    return render_template(
        "result.html",
        done=(ruled, ruled.decision.id) if ruled and ruled.decision else None,
        bulk_decision=together,
        **_view_values(),
    )


@pages.post("/review/comments/<id:comment_id>/claim", needs=Permission.DECIDE)
def claim(comment_id: str) -> ResponseReturnValue:
    session.modified = False
    case = seen_case(comment_id, Permission.DECIDE)
    if request.form.get("end"):
        end_claim(case.comment.id, services, user=moderator())
        return "", HTTPStatus.NO_CONTENT
    held = claim_comment(case, moderator(), services)
    # A comment that was just decided has no claim.
    is_others = held is not None and held.user_id != moderator().id
    return "", HTTPStatus.CONFLICT if is_others else HTTPStatus.NO_CONTENT


def _ids(field: str) -> tuple[CommentId, ...]:
    """Return the valid ids of a query's field, `a,b,c`."""
    named = request.args.get(field, "")[: MAX_ROWS * 65].split(",")
    known = dict.fromkeys(one for one in named if is_id(one))
    return tuple(CommentId(one) for one in known)[:MAX_ROWS]


def _claims_on(cases: Sequence[Case]) -> dict[CommentId, Claim]:
    return dict(claims_of_others([case.comment.id for case in cases], moderator(), services))


def _open(case: Case, claims: dict[CommentId, Claim]) -> bool:
    """Claim a comment; if another user has claimed it, add that to `claims` and return False.

    Users who may not decide do not claim comments.
    """
    if moderator().may(Permission.DECIDE, case.comment.site_id):
        held = claim_comment(case, moderator(), services)
    else:
        held = _claims_on([case]).get(case.comment.id)
    if held is None or held.user_id == moderator().id:
        return True
    claims[case.comment.id] = held
    return False


def _is_free(case: Case, claims: Mapping[CommentId, Claim]) -> bool:
    return case.is_open and case.comment.id not in claims and case.comment.id not in _skipped()


def _skipped() -> list[CommentId]:
    found: list[CommentId] = session.get("skipped", [])
    return found


def _sender_of(case: Case) -> SenderRecord | None:
    """Return the sender's record at the user's sites, or None if it is empty."""
    if case.withdrawn_at is not None:
        return None
    record = services.personal_data.look_up(case.comment, site_ids=moderator().site_ids)
    return record if record.traits else None


def _similar_to(case: Case) -> dict[str, Any] | None:
    """Return a comment's campaign and its newest other members, or None if it is too small."""
    site_ids = moderator().site_ids
    if case.campaign_id is None:
        return None
    try:
        campaign = services.campaigns.get(case.campaign_id, site_ids=site_ids)
    except NotFoundError:
        return None
    if campaign.members < FEWEST_SHOWN:
        return None
    page = services.campaigns.members(
        campaign.id, site_ids=site_ids, waiting_only=False, cursor=None, limit=_OTHERS_SHOWN + 1
    )
    others = [one for one in page.items if one.comment.id != case.comment.id][:_OTHERS_SHOWN]
    return {"campaign": campaign, "others": others}


def _thread_of(case: Case) -> list[Case]:
    """Return the comments above this one, the first of the thread first."""
    above: list[Case] = []
    seen = {case.comment.id}
    current = case
    while current.comment.reply_to and len(above) < _MOST_ABOVE:
        site_id, named = current.comment.site_id, current.comment.reply_to
        found = services.comments.find_by_site_ids(site_id, [named]).get(named)
        if found is None or found in seen or not moderator().sees(site_id):
            break
        seen.add(found)
        current = services.cases.get(found)
        above.append(current)
    return above[::-1]


def _wants_result() -> bool:
    return request.headers.get(_PARTS_HEADER) == "result"


def _show_page(*, chosen: Case | None = None, refused: Ruling | str | None = None) -> str:
    """Return the list with the chosen comment opened, else the first free one.

    `refused` is the ruling that was too late.
    """
    view = _read_view()
    criteria, order = view.criteria, view.sort or view.sorts[0]
    page = forms.read_from(
        view.cursor,
        lambda cursor: services.cases.page(criteria, order=order, cursor=cursor, limit=PAGE_SIZE),
    )
    # Skipped comments are last, in the order of skipping.
    skipped = {comment_id: number for number, comment_id in enumerate(_skipped(), 1)}
    cases = sorted(page.items, key=lambda case: skipped.get(case.comment.id, 0))
    claims = _claims_on(cases)
    listed = {
        **_view_values(),
        "cases": cases,
        "claims": claims,
        "further": replace(view, cursor=page.next_cursor) if page.next_cursor else None,
        "since": services.clock().isoformat(),
    }
    if request.headers.get(_PARTS_HEADER) == "list":
        # Requests run in parallel with rulings, and must not restore an older session.
        session.modified = False
        return render_template("list_part.html", **listed)
    opened = chosen
    if chosen is not None:
        _open(chosen, claims)
    else:
        free = (case for case in cases if _is_free(case, claims) and _open(case, claims))
        opened = next(free, cases[0] if cases else None)
    done = forms.pop_done(_JUST_DONE, lambda comment_id, act: (services.cases.get(comment_id), act))
    strip: Sequence[WaitingCampaign] = ()
    if view.tab is Tab.NEEDS_REVIEW:
        strip = services.campaigns.most_waiting(site_ids=criteria.site_ids, limit=_STRIPS_SHOWN)
    return render_template(
        "review.html",
        sites=seen_sites(),
        chosen=chosen is not None,
        campaign_strip=strip,
        then=_next_after(opened, cases, claims),
        done=done if done and _sees(done[0]) else None,
        bulk_decision=just_done_bulk_decision(),
        refused=refused,
        **listed,
        **(_opened_values(opened, claims) if opened else {}),
    )


def _show_result(case: Case, act: str, *, refused: bool = False) -> str:
    """Return the result of an action; `refused` is True if somebody else decided first."""
    return render_template(
        "result.html", done=(case, act), case=case, refused=refused, **_view_values()
    )


def _view_values() -> dict[str, Any]:
    view, cached = _read_view(), current_app.extensions[_COUNTS]
    window = time.monotonic() // _COUNT_SECONDS
    counts = {
        tab: (_count if tab in _WORKED_AT else cached)(replace(view, tab=tab).criteria, window)
        for tab in Tab
    }
    return {"view": view, "counts": counts, "skipped": _skipped()}


def _opened_values(case: Case, claims: Mapping[CommentId, Claim]) -> dict[str, Any]:
    claim = claims.get(case.comment.id)
    return {
        "opened": case,
        "claimed_by": claim.user_name if claim and case.is_open else "",
        "may_decide": moderator().may(Permission.DECIDE, case.comment.site_id),
        "sender": _optional_panel(case, lambda: _sender_of(case)),
        "similar": _optional_panel(case, lambda: _similar_to(case)),
        "reject_and_block": _optional_panel(case, lambda: reject_and_block_view(case)),
        "behind": _optional_panel(case, lambda: decisions_behind(case, services)),
        "thread": _optional_panel(case, lambda: _thread_of(case)),
    }


def _find_news(seen: Sequence[CommentId] = ()) -> list[CommentId]:
    """Return the comments that entered the list after the query's `since`, without `seen`."""
    view, now = _read_view(), services.clock()
    if view.tab is not Tab.NEEDS_REVIEW:
        return []
    since = read_any_moment(request.args.get("since")) or now
    found = services.cases.newcomers(
        view.criteria,
        received_after=max(since, now - _LOOKS_BACK) - _JUDGED_WITHIN,
        judged_after=since,
        limit=_MOST_NEWCOMERS,
    )
    return sorted(set(found).difference(seen))


def _optional_panel(case: Case, view: Callable[[], _V]) -> _V | None:
    """Return a part of the comment's page, or None if it fails, so that others still show.

    Raises `ModerationError`.
    """
    try:
        return view()
    except ModerationError:
        raise
    except Exception:  # a comment must stay decidable
        log.exception(
            "a part beside a comment cannot be shown", extra={"comment_id": case.comment.id}
        )
        return None


def _next_after(
    opened: Case | None, cases: Sequence[Case], claims: Mapping[CommentId, Claim]
) -> str | None:
    ids = [case.comment.id for case in cases]
    if opened is None or opened.comment.id not in ids:
        return None
    following = cases[ids.index(opened.comment.id) + 1 :]
    return next((case.comment.id for case in following if _is_free(case, claims)), None)


def _sees(case: Case) -> bool:
    return moderator().sees(case.comment.site_id)
