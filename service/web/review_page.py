"""Puts a review page together: the list, the opened comment, what was just done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from flask import render_template, request, session, url_for

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, NotFoundError
from service.domain.site import Site
from service.moderation.review import ReviewList, Tab, count_for_review, list_for_review
from service.ports import Services
from service.web.callbacks_page import count_given_up
from service.web.pages import moderator
from service.web.presenting import CaseView, present_case, present_row

PAGE_SIZE = 25
# What the page's own script sends to get only those parts of a page that a ruling changes.
PARTS_HEADER = "X-Parts"
_JUST_DONE = "just_done"
_UNDONE = "undo"
_TAB_NAMES = {
    Tab.NEEDS_REVIEW: "Needs review",
    Tab.SPAM: "Spam",
    Tab.HAM: "Ham",
    Tab.DECIDED: "Decided",
    Tab.ALL: "All",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a moderator is: which list, of which site, from which cursor on."""

    tab: Tab = Tab.NEEDS_REVIEW
    site_id: SiteId | None = None
    cursor: str | None = None

    @property
    def query(self) -> dict[str, Any]:
        """Return the place as the query of a URL; what goes without saying is left out."""
        show = None if self.tab is Tab.NEEDS_REVIEW else self.tab.value
        named = {"show": show, "site": self.site_id, "cursor": self.cursor}
        return {name: value for name, value in named.items() if value}

    @property
    def url(self) -> str:
        """Return the list's own address."""
        return url_for("pages.queue", **self.query)

    def url_of(self, comment_id: str) -> str:
        """Return the address of one comment, opened beside this list."""
        return url_for("pages.comment", comment_id=comment_id, **self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class TabView:
    """One list's name, address and size."""

    name: str
    url: str
    count: int
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JustDone:
    """What the moderator did last, as it stands now."""

    view: CaseView
    case: Case
    undone: bool


def remember_done(comment_id: CommentId, ruling: Ruling | None) -> None:
    """Let the next page tell what was done; None for an undo."""
    session[_JUST_DONE] = [comment_id, ruling.value if ruling else _UNDONE]


def show_page(
    place: Place,
    services: Services,
    *,
    chosen: Case | None = None,
    refused: Ruling | str | None = None,
) -> str:
    """Return the list with the chosen comment opened, or else its first.

    `refused` names what was not done because somebody else decided in the meantime.
    """
    now = services.clock()
    sites = {site.id: site for site in services.sites.all()}
    done = _just_done(services, sites, now)
    common = {"place": place, "done": done, "refused": refused, "user": moderator()}
    if chosen is not None and request.headers.get(PARTS_HEADER):
        counts = count_for_review(services, site_id=place.site_id)
        changed = {case.comment.id: case for case in (chosen, *([done.case] if done else []))}
        return render_template(
            "parts.html",
            tabs=_tabs(place, counts),
            rows=[present_row(case, sites=sites, now=now) for case in changed.values()],
            opened=present_case(chosen, sites=sites, now=now),
            **common,
        )
    listed = _list(place, services)
    cases = listed.page.cases
    opened = chosen or next(iter(cases), None)
    further = replace(place, cursor=listed.page.next_cursor)
    return render_template(
        "review.html",
        tabs=_tabs(place, listed.counts),
        sites=list(sites.values()),
        rows=[present_row(case, sites=sites, now=now) for case in cases],
        opened=present_case(opened, sites=sites, now=now) if opened else None,
        chosen=chosen is not None,
        then=_next_after(opened, cases),
        further=further if further.cursor else None,
        dead=count_given_up(services),
        **common,
    )


def _list(place: Place, services: Services) -> ReviewList:
    """Return the list from the place on; from its top if the cursor is none of this list's."""
    try:
        return list_for_review(
            place.tab, services, site_id=place.site_id, cursor=place.cursor, limit=PAGE_SIZE
        )
    except InvalidInputError:
        return list_for_review(
            place.tab, services, site_id=place.site_id, cursor=None, limit=PAGE_SIZE
        )


def _tabs(place: Place, counts: Mapping[Tab, int]) -> list[TabView]:
    return [
        TabView(
            name=_TAB_NAMES[tab],
            url=Place(tab=tab, site_id=place.site_id).url,
            count=counts[tab],
            current=tab is place.tab,
        )
        for tab in Tab
    ]


def _next_after(opened: Case | None, cases: Sequence[Case]) -> str | None:
    """Return which comment follows the opened one, None if it is the last of the page."""
    ids = [case.comment.id for case in cases]
    if opened is None or opened.comment.id not in ids:
        return None
    following = ids[ids.index(opened.comment.id) + 1 :]
    return following[0] if following else None


def _just_done(services: Services, sites: Mapping[SiteId, Site], now: datetime) -> JustDone | None:
    remembered = session.pop(_JUST_DONE, None)
    if remembered is None:
        return None
    comment_id, act = remembered
    try:
        case = services.cases.get(CommentId(comment_id))
    except NotFoundError:
        return None
    view = present_case(case, sites=sites, now=now)
    return JustDone(view=view, case=case, undone=act == _UNDONE)
