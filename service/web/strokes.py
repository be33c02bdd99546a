"""Decides many comments at once, shows what was done so, and takes it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.site import Site
from service.domain.stroke import Stroke, StrokeOf
from service.domain.user import Permission
from service.moderation.decide import MAX_NOTE_CHARS
from service.moderation.strokes import decide_together, list_strokes, undo_stroke
from service.ports import Services
from service.web.ids import is_id
from service.web.language import gettext, ngettext, noted
from service.web.marking import Piece, part_text
from service.web.pages import error_page, moderator, needs, require, safe_next
from service.web.presenting import Moment, tell_time

STROKES_SHOWN = 25
_JUST_DONE = "just_done_stroke"
_WHAT_IN_WORDS = {
    StrokeOf.SELECTION: noted("Chosen one by one"),
    StrokeOf.SEARCH: noted("Found by a search"),
    StrokeOf.CAMPAIGN: noted("A campaign"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StrokeView:
    """One act on many comments, in words.

    `told` is a sentence that says what was done, `left_out` one about what was not, empty for
    nothing. `may_undo` says that something of it stands and may be taken back by whoever looks.
    """

    id: str
    told: str
    left_out: str
    what: str
    ruling: Ruling
    n_decided: int
    n_in_force: int
    by: tuple[Piece, ...]
    when: Moment
    sites: tuple[tuple[Piece, ...], ...]
    undone_by: tuple[Piece, ...]
    undone: Moment | None
    may_undo: bool


def add_strokes(pages: Blueprint, services: Services) -> None:
    """Add the forms that decide many comments and undo that, and the list of what was done so."""

    @pages.post("/review/bulk")
    @needs(Permission.DECIDE)
    def bulk() -> ResponseReturnValue:
        ids = [CommentId(one) for one in request.form.getlist("id") if is_id(one)]
        rulings = {ruling.value: ruling for ruling in Ruling}
        ruling = rulings.get(request.form.get("ruling", ""))
        note = note_given()
        refusal = _refusal(ids, ruling, note)
        if refusal or ruling is None:
            title = gettext("Nothing was decided")
            return error_page(HTTPStatus.BAD_REQUEST, title, refusal)
        stroke_id = request.form.get("stroke", "")
        stroke = decide_together(
            ids,
            ruling,
            services,
            decided_by=moderator().name,
            what=StrokeOf.SELECTION,
            note=note,
            stroke_id=stroke_id if is_id(stroke_id) else None,
            site_ids=moderator().site_ids,
            # Whoever selects among those that wait has seen no decision on them.
            open_only=not request.form.get("show"),
        )
        remember_stroke(stroke)
        return redirect(safe_next(request.form.get("next")), HTTPStatus.SEE_OTHER)

    @pages.post("/review/strokes/<stroke_id>/undo", endpoint="undo_stroke")
    @needs(Permission.DECIDE)
    def undo(stroke_id: str) -> ResponseReturnValue:
        stroke = services.strokes.get(stroke_id) if is_id(stroke_id) else None
        if stroke is None or not _is_seen(stroke):
            abort(HTTPStatus.NOT_FOUND)
        for site_id in stroke.site_ids:
            require(Permission.DECIDE, site_id)
        remember_stroke(undo_stroke(stroke.id, services, undone_by=moderator().name))
        return redirect(safe_next(request.form.get("next")), HTTPStatus.SEE_OTHER)

    @pages.get("/review/strokes")
    def strokes() -> ResponseReturnValue:
        before = request.args.get("before", "")
        found = list_strokes(
            services,
            site_ids=moderator().site_ids,
            limit=STROKES_SHOWN + 1,
            before=before if is_id(before) else None,
        )
        sites = {site.id: site for site in services.sites.all()}
        shown = [view_of(one, sites=sites, now=services.clock()) for one in found[:STROKES_SHOWN]]
        more = shown[-1].id if len(found) > STROKES_SHOWN else None
        return render_template(
            "strokes.html",
            strokes=shown,
            done=just_done_stroke(services),
            older=url_for("pages.strokes", before=more) if more else None,
            first=not before,
        )


def note_given() -> str | None:
    """Return the note that came with a form, None for an empty one."""
    return request.form.get("note", "").strip() or None


def remember_stroke(stroke: Stroke) -> None:
    """Let the next page tell what was done."""
    session[_JUST_DONE] = stroke.id


def just_done_stroke(services: Services) -> StrokeView | None:
    """Return what was done last on many comments, as it stands now; tell it once."""
    stroke_id = session.pop(_JUST_DONE, None)
    if stroke_id is None:
        return None
    try:
        stroke = services.strokes.get(stroke_id)
    except NotFoundError:
        return None
    sites = {site.id: site for site in services.sites.all()}
    return view_of(stroke, sites=sites, now=services.clock())


def view_of(stroke: Stroke, *, sites: Mapping[SiteId, Site], now: datetime) -> StrokeView:
    """Return what a page shows of a stroke to whoever is signed in."""
    user = moderator()
    seen = _is_seen(stroke) and all(
        user.may(Permission.DECIDE, site_id) for site_id in stroke.site_ids
    )
    return StrokeView(
        id=stroke.id,
        told=_told(stroke),
        left_out=_left_out(stroke),
        what=gettext(_WHAT_IN_WORDS[stroke.what]),
        ruling=stroke.ruling,
        n_decided=stroke.n_decided,
        n_in_force=stroke.n_in_force,
        by=part_text(stroke.decided_by),
        when=tell_time(stroke.decided_at, now),
        sites=tuple(
            part_text(sites[site_id].name if site_id in sites else site_id)
            for site_id in stroke.site_ids
        ),
        undone_by=part_text(stroke.undone_by or ""),
        undone=tell_time(stroke.undone_at, now) if stroke.undone_at else None,
        may_undo=seen and stroke.n_in_force > 0 and user.may(Permission.DECIDE),
    )


def _is_seen(stroke: Stroke) -> bool:
    """Say whether all that a stroke touched may be shown; one that touched nothing is its maker's.

    Who sees one of its sites alone could not undo it without the others.
    """
    user = moderator()
    if not stroke.site_ids:
        return user.site_ids is None or stroke.decided_by == user.name
    return all(user.sees(site_id) for site_id in stroke.site_ids)


def _refusal(ids: list[CommentId], ruling: Ruling | None, note: str | None) -> str:
    """Return why a form decides nothing, empty if it does."""
    problems = []
    if not ids:
        problems.append(gettext("Choose at least one comment."))
    if ruling is None:
        problems.append(gettext("Choose to approve or to reject."))
    if note is not None and len(note) > MAX_NOTE_CHARS:
        problems.append(
            ngettext(
                "A note has at most %(num)s character.",
                "A note has at most %(num)s characters.",
                MAX_NOTE_CHARS,
            )
        )
    return " ".join(problems)


def _told(stroke: Stroke) -> str:
    if stroke.undone_at is not None:
        return ngettext(
            "%(num)s ruling taken back.",
            "%(num)s rulings taken back.",
            stroke.n_decided - stroke.n_in_force,
        )
    if stroke.ruling is Ruling.APPROVE:
        return ngettext("%(num)s comment approved.", "%(num)s comments approved.", stroke.n_decided)
    return ngettext("%(num)s comment rejected.", "%(num)s comments rejected.", stroke.n_decided)


def _left_out(stroke: Stroke) -> str:
    if not stroke.n_left_out:
        return ""
    return ngettext(
        "%(num)s was left out: ruled so already, or gone.",
        "%(num)s were left out: ruled so already, or gone.",
        stroke.n_left_out,
    )
