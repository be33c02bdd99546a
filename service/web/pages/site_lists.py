"""The page of allow and block lists: adding with a preview, removal with undo."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus

from flask import abort, get_template_attribute, render_template, request, session
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import InvalidInputError, Problem
from service.domain.list_entry import MAX_REASON_CHARS, Effect, EntryFilter, EntryKind, ListEntry
from service.domain.user import Permission
from service.moderation.lists import (
    MAX_VALUE_CHARS,
    NewEntry,
    Preview,
    add_entry,
    preview_entry,
    remove_entry,
    restore_entry,
)
from service.web.edge.current import services
from service.web.edge.language import gettext
from service.web.pages import forms
from service.web.pages.blueprint import error_page, go_to, moderator, pages, require
from service.web.pages.template_filters import seen_sites

PAGE_SIZE = 50
MAX_WORDS_CHARS = 100
_DONE = "list_entry_done"
_ENDED = "ended"
_SHOWS = (Effect.BLOCK, Effect.ALLOW, _ENDED)
# The form's days until an entry expires; other values mean never.
_EXPIRIES = {days: timedelta(days=int(days)) for days in ("1", "7", "30")}


@pages.get("/lists", needs=Permission.LIST_SENDERS)
def site_lists() -> ResponseReturnValue:
    return _show(_asked())


@pages.post("/lists/add", needs=Permission.LIST_SENDERS)
def site_lists_add() -> ResponseReturnValue:
    is_allow = request.form.get("show") == Effect.ALLOW
    effect, place = (Effect.ALLOW, {"show": "allow"}) if is_allow else (Effect.BLOCK, {})
    # One character over the limit shows that a value is too long.
    most = max(MAX_VALUE_CHARS, MAX_REASON_CHARS) + 1
    fields = ("kind", "value", "reason", "site", "expires")
    form = {name: request.form.get(name, "")[:most] for name in fields}
    try:
        new = _new_entry(form, effect)
        if request.form.get("do") == "preview":
            return _show(place, form=form, preview=preview_entry(new, services))
        entry = add_entry(new, services, by=moderator().name)
    except InvalidInputError as error:
        problems = {one.field: one for one in error.problems}
        return _show(place, form=form, problems=problems), HTTPStatus.UNPROCESSABLE_ENTITY
    return _go_on("added", entry, place)


@pages.post("/lists/<id:entry_id>/remove", needs=Permission.LIST_SENDERS)
def site_lists_remove(entry_id: str) -> ResponseReturnValue:
    entry = remove_entry(_changeable(entry_id).id, services, by=moderator().name)
    return _go_on("removed", entry, _asked())


@pages.post("/lists/<id:entry_id>/restore", needs=Permission.LIST_SENDERS)
def site_lists_restore(entry_id: str) -> ResponseReturnValue:
    try:
        entry = restore_entry(_changeable(entry_id).id, services, by=moderator().name)
    except InvalidInputError as error:
        in_words = get_template_attribute("list_words.html", "problem_in_words")
        title, why = gettext("Nothing was changed"), in_words(error.problems[0])
        return error_page(HTTPStatus.UNPROCESSABLE_ENTITY, title, why)
    return _go_on("restored", entry, _asked())


def _new_entry(filled: Mapping[str, str], effect: Effect) -> NewEntry:
    """Return the form's entry. Raises `InvalidInputError` with all problems."""
    kind = request.values.get("kind", type=EntryKind)
    site_id = SiteId(filled["site"]) if filled["site"] else None
    problems = [] if kind else [Problem("kind", "is missing", "choose what to list")]
    if site_id is not None:
        require(Permission.LIST_SENDERS, site_id)
    elif moderator().site_ids is not None:
        problems.append(Problem("site", "is missing", "choose one of your sites"))
    new = NewEntry(
        effect=effect,
        kind=kind or EntryKind.PHRASE,
        value=filled["value"],
        reason=filled["reason"],
        site_id=site_id,
        expires_in=_EXPIRIES.get(filled["expires"]),
    )
    if problems:
        try:
            preview_entry(new, services)
        except InvalidInputError as error:
            others = error.problems
            # Without a kind the value cannot be checked.
            problems += [one for one in others if kind is not None or one.problem == "is missing"]
        raise InvalidInputError(problems)
    return new


def _changeable(entry_id: str) -> ListEntry:
    """Return the entry; abort if the signed-in user may not change it."""
    entry = services.list_entries.get(entry_id)
    if entry.site_id is not None:
        require(Permission.LIST_SENDERS, entry.site_id)
    elif not _may_change(entry):
        abort(HTTPStatus.FORBIDDEN)
    return entry


def _may_change(entry: ListEntry) -> bool:
    user = moderator()
    is_theirs = entry.site_id is not None or user.site_ids is None
    return is_theirs and user.may(Permission.LIST_SENDERS, entry.site_id)


def _go_on(act: str, entry: ListEntry, place: Mapping[str, str]) -> ResponseReturnValue:
    session[_DONE] = [act, entry.id]
    return go_to("pages.site_lists", **place)


def _asked() -> dict[str, str]:
    """Return the requested list and its filters, without defaults and invalid values."""
    given, site_id, show = request.values, forms.read_token("site"), request.values.get("show")
    place = {
        "show": show if show in _SHOWS and show != Effect.BLOCK else None,
        "kind": given.get("kind", type=EntryKind),
        "site": site_id if site_id and moderator().sees(SiteId(site_id)) else None,
        "q": " ".join(given.get("q", "")[:MAX_WORDS_CHARS].split()),
        "cursor": forms.read_token("cursor"),
    }
    return {name: value for name, value in place.items() if value}


def _show(
    place: Mapping[str, str],
    *,
    form: Mapping[str, str] | None = None,
    problems: Mapping[str, Problem] | None = None,
    preview: Preview | None = None,
) -> str:
    now, user, sites = services.clock(), moderator(), seen_sites()
    done = forms.pop_done(_DONE, lambda act, entry_id: (act, services.list_entries.get(entry_id)))
    criteria = _criteria(place, now)
    page = forms.read_from(
        place.get("cursor"),
        lambda cursor: services.list_entries.page(criteria, cursor=cursor, limit=PAGE_SIZE),
    )
    count = services.list_entries.count
    site_id = sites[0].id if sites and user.site_ids is not None else ""
    return render_template(
        "site_lists.html",
        place=place,
        show=place.get("show", Effect.BLOCK),
        tabs={show: count(_criteria({"show": show}, now)) for show in _SHOWS},
        entries=page.items,
        next_cursor=page.next_cursor,
        sites=sites,
        for_all=user.site_ids is None,
        form=form or {"site": site_id},
        problems=problems or {},
        preview=preview,
        done=done if done and _may_change(done[1]) else None,
        may_change=_may_change,
        now=now,
        bounds={"value": MAX_VALUE_CHARS, "reason": MAX_REASON_CHARS, "words": MAX_WORDS_CHARS},
    )


def _criteria(place: Mapping[str, str], now: datetime) -> EntryFilter:
    show, kind, site_id = place.get("show", Effect.BLOCK), place.get("kind"), place.get("site")
    return EntryFilter(
        in_force=show != _ENDED,
        at=now,
        effect=None if show == _ENDED else Effect(show),
        kind=EntryKind(kind) if kind else None,
        site_id=SiteId(site_id) if site_id else None,
        site_ids=moderator().site_ids,
        words=place.get("q"),
    )
