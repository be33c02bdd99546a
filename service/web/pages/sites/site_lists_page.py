"""The page of what moderators allow and block: tabs, a form with a preview, removal with undo."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from flask import abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.domain.list_entry import (
    MAX_REASON_CHARS,
    Effect,
    EntryFilter,
    EntryKind,
    EntryPage,
    ListEntry,
)
from service.domain.site import Site
from service.domain.user import Permission, User
from service.moderation.admin.entry_values import MAX_VALUE_CHARS
from service.moderation.admin.site_lists import (
    NewEntry,
    Preview,
    add_entry,
    list_entries,
    preview_entry,
    problems_of,
    remove_entry,
    restore_entry,
)
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, ngettext, noted
from service.web.pages.common.list_words import EFFECT_IN_WORDS, KIND_IN_WORDS, problems_in_words
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs, pages, require, services
from service.web.pages.common.presenting import Moment, tell_time

PAGE_SIZE = 50
MAX_WORDS_CHARS = 100
_CURSOR = re.compile(r"[A-Za-z0-9_=-]{1,400}")
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
    Show.BLOCK: EFFECT_IN_WORDS[Effect.BLOCK],
    Show.ALLOW: EFFECT_IN_WORDS[Effect.ALLOW],
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryView:
    """One entry as a row. `hits` is None where it would tell of sites that are not to be seen."""

    id: str
    effect: str
    kind: str
    label: tuple[Piece, ...]
    is_keyed: bool
    site_name: tuple[Piece, ...]
    reason: tuple[Piece, ...]
    added_by: tuple[Piece, ...]
    added: Moment
    expires: Moment | None
    expired: bool
    removed: Moment | None
    removed_by: tuple[Piece, ...]
    comment_id: str | None
    hits: int | None
    last_hit: Moment | None
    may_change: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneView:
    """What was just done to an entry, and whether it can be taken back by a button."""

    says: str
    entry: EntryView
    undo_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FormView:
    """The form for a new entry as it was filled in, with what is wrong or what it would do."""

    kind: str = ""
    value: str = ""
    reason: str = ""
    site: str = ""
    expires: str = _NEVER
    problems: Mapping[str, str] = field(default_factory=dict)
    preview: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Return True if the preview has something to show."""
        return bool(self.problems or self.preview)


@pages.get("/lists")
@needs(Permission.LIST_SENDERS)
def site_lists() -> ResponseReturnValue:
    return _show(_place(request.args))


@pages.post("/lists/add")
@needs(Permission.LIST_SENDERS)
def site_lists_add() -> ResponseReturnValue:
    return _add()


@pages.post("/lists/<entry_id>/remove")
@needs(Permission.LIST_SENDERS)
def site_lists_remove(entry_id: str) -> ResponseReturnValue:
    entry = _changeable(entry_id)
    remove_entry(entry.id, services.reputation, services.common, by=moderator().name)
    return _go_on(_REMOVED, entry)


@pages.post("/lists/<entry_id>/restore")
@needs(Permission.LIST_SENDERS)
def site_lists_restore(entry_id: str) -> ResponseReturnValue:
    entry = _changeable(entry_id)
    restore_entry(entry.id, services.reputation, services.common, by=moderator().name)
    return _go_on(_RESTORED, entry)


def _add() -> ResponseReturnValue:
    effect = Effect.ALLOW if request.form.get("show") == Show.ALLOW else Effect.BLOCK
    place = ListPlace(show=Show(effect.value))
    filled = _filled()
    try:
        new = _new_entry(
            filled,
            effect,
        )
        if request.form.get("do") == "preview":
            preview = preview_entry(new, services)
            filled["preview"] = _preview_in_words(preview, effect)
            return _show(place, form=FormView(**filled))
        entry = add_entry(new, services, by=moderator().name)
    except InvalidInputError as error:
        form = FormView(**filled, problems=problems_in_words(error.problems))
        return _show(place, form=form), HTTPStatus.UNPROCESSABLE_ENTITY
    session[_DONE] = [_ADDED, entry.id]
    return redirect(url_for("pages.site_lists", **place.query), HTTPStatus.SEE_OTHER)


def _filled() -> dict[str, Any]:
    """Return what was typed, within bounds, to be shown again."""
    names = {"kind": 20, "value": MAX_VALUE_CHARS + 1, "reason": MAX_REASON_CHARS + 1}
    bounds = names | {"site": 64, "expires": 4}
    return {name: request.form.get(name, "")[:most] for name, most in bounds.items()}


def _new_entry(
    filled: Mapping[str, str],
    effect: Effect,
) -> NewEntry:
    """Return what the form asks for. Raises `InvalidInputError` with all that is wrong."""
    kind = {kind.value: kind for kind in EntryKind}.get(filled["kind"])
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
        others = problems_of(new, services.reputation, services.common)
        # Without a kind nothing is known of the value but whether there is one.
        problems += [one for one in others if kind is not None or one.problem == "is missing"]
        raise InvalidInputError(problems)
    return new


def _missing(name: str, remedy: str) -> Problem:
    return Problem(field=name, problem="is missing", remedy=remedy)


def _changeable(entry_id: str) -> ListEntry:
    """Return the entry; end the request where whoever is signed in may not change it."""
    if not is_id(entry_id):
        abort(HTTPStatus.NOT_FOUND)
    entry = services.reputation.list_entries.get(entry_id)
    if entry.site_id is not None:
        require(Permission.LIST_SENDERS, entry.site_id)
    elif not _may_change(entry, moderator()):
        abort(HTTPStatus.FORBIDDEN)
    return entry


def _may_change(entry: ListEntry, user: User) -> bool:
    if entry.site_id is None:
        return user.site_ids is None and user.may(Permission.LIST_SENDERS)
    return user.may(Permission.LIST_SENDERS, entry.site_id)


def _go_on(act: str, entry: ListEntry) -> ResponseReturnValue:
    session[_DONE] = [act, entry.id]
    place = _place(request.form)
    return redirect(url_for("pages.site_lists", **place.query), HTTPStatus.SEE_OTHER)


def _place(given: Mapping[str, str]) -> ListPlace:
    """Return the place that a query or a form names; nonsense in it means the default."""
    shows = {show.value: show for show in Show}
    kinds = {kind.value: kind for kind in EntryKind}
    site_id, cursor = given.get("site", ""), given.get("cursor", "")
    return ListPlace(
        show=shows.get(given.get("show", ""), Show.BLOCK),
        kind=kinds.get(given.get("kind", "")),
        site_id=SiteId(site_id) if is_id(site_id) and moderator().sees(SiteId(site_id)) else None,
        words=" ".join(given.get("q", "")[:MAX_WORDS_CHARS].split()),
        cursor=cursor if _CURSOR.fullmatch(cursor) else None,
    )


def _show(
    place: ListPlace,
    *,
    form: FormView | None = None,
) -> str:
    now, user = services.common.clock(), moderator()
    sites = {site.id: site for site in services.common.sites.all() if user.sees(site.id)}
    page = _page(place, now)
    further = {**place.query, "cursor": page.next_cursor} if page.next_cursor else None
    return render_template(
        "site_lists.html",
        place=place,
        tabs=_tabs(place, now),
        entries=[_present(entry, sites, user, now) for entry in page.entries],
        further=further,
        sites=list(sites.values()),
        for_all=user.site_ids is None,
        kinds=[(kind.value, gettext(words)) for kind, words in KIND_IN_WORDS.items()],
        expiries=[(value, gettext(words)) for value, (words, _) in _EXPIRIES.items()],
        form=form or FormView(site=next(iter(sites), "") if user.site_ids is not None else ""),
        done=_just_done(sites, user, now),
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


def _page(place: ListPlace, now: datetime) -> EntryPage:
    """Return the entries from the place on; from the top if the cursor is nobody's."""
    criteria = _criteria(place, now)
    try:
        return list_entries(criteria, services.reputation, cursor=place.cursor, limit=PAGE_SIZE)
    except InvalidInputError:
        return list_entries(criteria, services.reputation, cursor=None, limit=PAGE_SIZE)


def _tabs(place: ListPlace, now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "name": gettext(words),
            "url": url_for("pages.site_lists", **ListPlace(show=show).query),
            "count": services.reputation.list_entries.count(_criteria(ListPlace(show=show), now)),
            "current": show is place.show,
        }
        for show, words in _SHOW_IN_WORDS.items()
    ]


def _present(
    entry: ListEntry, sites: Mapping[SiteId, Site], user: User, now: datetime
) -> EntryView:
    site = sites.get(entry.site_id) if entry.site_id else None
    # What an entry for all sites did at others, or which comment it was made from, is theirs.
    open_to_user = entry.site_id is not None or user.site_ids is None
    return EntryView(
        id=entry.id,
        effect=entry.effect.value,
        kind=gettext(KIND_IN_WORDS[entry.kind]),
        label=part_text(entry.label),
        is_keyed=entry.kind.is_keyed,
        site_name=part_text(site.name if site else gettext("All sites")),
        reason=part_text(entry.reason),
        added_by=part_text(entry.added_by),
        added=tell_time(entry.added_at, now),
        expires=tell_time(entry.expires_at, now) if entry.expires_at else None,
        expired=entry.expires_at is not None and entry.expires_at <= now,
        removed=tell_time(entry.removed_at, now) if entry.removed_at else None,
        removed_by=part_text(entry.removed_by or ""),
        comment_id=entry.comment_id if open_to_user else None,
        hits=entry.hits if open_to_user else None,
        last_hit=tell_time(entry.last_hit_at, now) if entry.last_hit_at and open_to_user else None,
        may_change=_may_change(entry, user),
    )


def _just_done(sites: Mapping[SiteId, Site], user: User, now: datetime) -> DoneView | None:
    act, entry_id = session.pop(_DONE, None) or ("", "")
    try:
        entry = services.reputation.list_entries.get(entry_id) if entry_id else None
    except NotFoundError:
        entry = None
    if entry is None or not _may_change(entry, user):
        return None
    says, undo = {
        _ADDED: (gettext("Added to the list."), "pages.site_lists_remove"),
        _REMOVED: (gettext("Removed from the list."), "pages.site_lists_restore"),
        _RESTORED: (gettext("Back on the list."), "pages.site_lists_remove"),
    }[act]
    view = _present(entry, sites, user, now)
    return DoneView(says=says, entry=view, undo_url=url_for(undo, entry_id=entry.id))


def _preview_in_words(preview: Preview, effect: Effect) -> tuple[str, ...]:
    if not preview.n_seen:
        return (gettext("There are no comments yet to compare it with."),)
    said = [
        ngettext(
            "It would have matched %(matched)s of the last comment.",
            "It would have matched %(matched)s of the last %(num)s comments.",
            preview.n_seen,
            matched=preview.n_matched,
        )
    ]
    said += _contradicted(preview, effect)
    return tuple(said)


def _contradicted(preview: Preview, effect: Effect) -> Sequence[str]:
    """Return which of the matched comments stand the other way, sentence by sentence."""
    if not preview.n_matched:
        return ()
    if effect is Effect.BLOCK:
        ruled, others = preview.n_approved, preview.n_against - preview.n_approved
        by_people = ngettext(
            "%(num)s of them was approved by a moderator.",
            "%(num)s of them were approved by moderators.",
            ruled,
        )
        by_verdict = ngettext(
            "%(num)s more was called ham.", "%(num)s more were called ham.", others
        )
    else:
        ruled, others = preview.n_rejected, preview.n_against - preview.n_rejected
        by_people = ngettext(
            "%(num)s of them was rejected by a moderator.",
            "%(num)s of them were rejected by moderators.",
            ruled,
        )
        by_verdict = ngettext(
            "%(num)s more was called spam.", "%(num)s more were called spam.", others
        )
    return (by_people, by_verdict)
