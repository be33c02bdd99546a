"""The page of what moderators allow and block: tabs, a form with a preview, removal with undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from flask import abort, render_template, request, session
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.domain.list_entry import (
    MAX_REASON_CHARS,
    Effect,
    EntryFilter,
    EntryKind,
    ListEntry,
)
from service.domain.user import Permission
from service.moderation.admin.entry_values import MAX_VALUE_CHARS
from service.moderation.admin.site_lists import (
    NewEntry,
    Preview,
    add_entry,
    preview_entry,
    problems_of,
    remove_entry,
    restore_entry,
)
from service.web.edge.current import services
from service.web.edge.language import noted
from service.web.pages.common.filters import seen_sites
from service.web.pages.common.pages import (
    go_to,
    moderator,
    needs,
    pages,
    read_choice,
    read_from,
    read_token,
    require,
)

PAGE_SIZE = 50
MAX_WORDS_CHARS = 100
_DONE = "list_entry_done"
_ADDED, _REMOVED, _RESTORED = "added", "removed", "restored"
_NEVER = ""
_EXPIRIES: Mapping[str, tuple[str, timedelta | None]] = {
    "1": (noted("1 day"), timedelta(days=1)),
    "7": (noted("1 week"), timedelta(days=7)),
    "30": (noted("30 days"), timedelta(days=30)),
    _NEVER: (noted("Never"), None),
}


class Show(StrEnum):
    """The lists on the page: what is blocked, what is allowed, what is so no longer."""

    BLOCK = "block"
    ALLOW = "allow"
    ENDED = "ended"

    @property
    def effect(self) -> Effect | None:
        """Return the effect of the entries shown, None for all."""
        return None if self is Show.ENDED else Effect(self.value)


_SHOW_IN_WORDS = {
    Show.BLOCK: noted("Block list"),
    Show.ALLOW: noted("Allow list"),
    Show.ENDED: noted("Ended"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlace:
    """Where a moderator is: which list, narrowed to what, from which cursor on."""

    show: Show = Show.BLOCK
    kind: EntryKind | None = None
    site_id: SiteId | None = None
    words: str = ""
    cursor: str | None = None

    @property
    def query(self) -> dict[str, Any]:
        """Return the place as the query of a URL; what goes without saying is left out."""
        named = {
            "show": None if self.show is Show.BLOCK else self.show.value,
            "kind": self.kind.value if self.kind else None,
            "site": self.site_id,
            "q": self.words,
            "cursor": self.cursor,
        }
        return {name: value for name, value in named.items() if value}

    @property
    def narrowed(self) -> bool:
        """Return True if some entries of the list are left out."""
        return bool(self.kind or self.site_id or self.words)


@pages.get("/lists")
@needs(Permission.LIST_SENDERS)
def site_lists() -> ResponseReturnValue:
    return _show(_place())


@pages.post("/lists/add")
@needs(Permission.LIST_SENDERS)
def site_lists_add() -> ResponseReturnValue:
    effect = Effect.ALLOW if request.form.get("show") == Show.ALLOW else Effect.BLOCK
    place = ListPlace(show=Show(effect.value))
    form = _filled()
    try:
        new = _new_entry(form, effect)
        if request.form.get("do") == "preview":
            return _show(place, form=form, preview=preview_entry(new, services))
        entry = add_entry(new, services, by=moderator().name)
    except InvalidInputError as error:
        problems = {one.field: one for one in error.problems}
        return _show(place, form=form, problems=problems), HTTPStatus.UNPROCESSABLE_ENTITY
    session[_DONE] = [_ADDED, entry.id]
    return go_to("pages.site_lists", **place.query)


@pages.post("/lists/<id:entry_id>/remove")
@needs(Permission.LIST_SENDERS)
def site_lists_remove(entry_id: str) -> ResponseReturnValue:
    entry = _changeable(entry_id)
    remove_entry(entry.id, services, by=moderator().name)
    return _go_on(_REMOVED, entry)


@pages.post("/lists/<id:entry_id>/restore")
@needs(Permission.LIST_SENDERS)
def site_lists_restore(entry_id: str) -> ResponseReturnValue:
    entry = _changeable(entry_id)
    restore_entry(entry.id, services, by=moderator().name)
    return _go_on(_RESTORED, entry)


def _filled() -> dict[str, str]:
    """Return what was typed, within bounds, to be shown again."""
    names = {"kind": 20, "value": MAX_VALUE_CHARS + 1, "reason": MAX_REASON_CHARS + 1}
    bounds = names | {"site": 64, "expires": 4}
    return {name: request.form.get(name, "")[:most] for name, most in bounds.items()}


def _new_entry(filled: Mapping[str, str], effect: Effect) -> NewEntry:
    """Return what the form asks for. Raises `InvalidInputError` with all that is wrong."""
    kind = read_choice(EntryKind, filled["kind"])
    site_id = SiteId(filled["site"]) if filled["site"] else None
    problems = [_missing("kind", "choose what to list")] if kind is None else []
    if site_id is not None:
        require(Permission.LIST_SENDERS, site_id)
    elif moderator().site_ids is not None:
        problems.append(_missing("site", "choose one of your sites"))
    new = NewEntry(
        effect=effect,
        kind=kind or EntryKind.PHRASE,
        value=filled["value"],
        reason=filled["reason"],
        site_id=site_id,
        expires_in=_EXPIRIES.get(filled["expires"], _EXPIRIES[_NEVER])[1],
    )
    if problems:
        others = problems_of(new, services)
        # Without a kind nothing is known of the value but whether there is one.
        problems += [one for one in others if kind is not None or one.problem == "is missing"]
        raise InvalidInputError(problems)
    return new


def _missing(name: str, remedy: str) -> Problem:
    return Problem(field=name, problem="is missing", remedy=remedy)


def _changeable(entry_id: str) -> ListEntry:
    """Return the entry; end the request if the signed-in user may not change it."""
    entry = services.list_entries.get(entry_id)
    if entry.site_id is not None:
        require(Permission.LIST_SENDERS, entry.site_id)
    elif not _may_change(entry):
        abort(HTTPStatus.FORBIDDEN)
    return entry


def _may_change(entry: ListEntry) -> bool:
    user = moderator()
    if entry.site_id is None:
        return user.site_ids is None and user.may(Permission.LIST_SENDERS)
    return user.may(Permission.LIST_SENDERS, entry.site_id)


def _go_on(act: str, entry: ListEntry) -> ResponseReturnValue:
    session[_DONE] = [act, entry.id]
    return go_to("pages.site_lists", **_place().query)


def _place() -> ListPlace:
    """Return the place that the query or the form names; nonsense in it means the default."""
    given, site_id = request.values, SiteId(read_token("site") or "")
    return ListPlace(
        show=read_choice(Show, given.get("show", "")) or Show.BLOCK,
        kind=read_choice(EntryKind, given.get("kind", "")),
        site_id=site_id if site_id and moderator().sees(site_id) else None,
        words=" ".join(given.get("q", "")[:MAX_WORDS_CHARS].split()),
        cursor=read_token("cursor"),
    )


def _show(
    place: ListPlace,
    *,
    form: Mapping[str, str] | None = None,
    problems: Mapping[str, Problem] | None = None,
    preview: Preview | None = None,
) -> str:
    now, user, sites = services.clock(), moderator(), seen_sites()
    criteria = _criteria(place, now)
    page = read_from(
        place.cursor,
        lambda cursor: services.list_entries.page(criteria, cursor=cursor, limit=PAGE_SIZE),
    )
    count = services.list_entries.count
    further = {**place.query, "cursor": page.next_cursor} if page.next_cursor else None
    site_id = sites[0].id if sites and user.site_ids is not None else ""
    return render_template(
        "site_lists.html",
        place=place,
        tabs={show: count(_criteria(ListPlace(show=show), now)) for show in Show},
        names=_SHOW_IN_WORDS,
        entries=page.entries,
        further=further,
        sites=sites,
        for_all=user.site_ids is None,
        expiries=_EXPIRIES,
        form=form or {"site": site_id},
        problems=problems or {},
        preview=preview,
        done=_just_done(),
        may_change=_may_change,
        now=now,
        bounds={"value": MAX_VALUE_CHARS, "reason": MAX_REASON_CHARS, "words": MAX_WORDS_CHARS},
    )


def _criteria(place: ListPlace, now: datetime) -> EntryFilter:
    return EntryFilter(
        in_force=place.show is not Show.ENDED,
        at=now,
        effect=place.show.effect,
        kind=place.kind,
        site_id=place.site_id,
        site_ids=moderator().site_ids,
        words=place.words or None,
    )


def _just_done() -> tuple[str, ListEntry] | None:
    """Return what was just done to which entry."""
    if _DONE not in session:
        return None
    act, entry_id = session.pop(_DONE)
    try:
        entry = services.list_entries.get(entry_id)
    except NotFoundError:
        return None
    return (act, entry) if _may_change(entry) else None
