"""Decides many comments at once, shows what was done so, and takes it back."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.stroke import StrokeOf
from service.domain.user import Permission
from service.moderation.review.decide import MAX_NOTE_CHARS
from service.moderation.review.strokes import decide_together, list_strokes, undo_stroke
from service.ports.services import Services
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, ngettext
from service.web.pages.common.last_stroke import (
    is_seen,
    just_done_stroke,
    note_given,
    remember_stroke,
    view_of,
)
from service.web.pages.common.pages import (
    error_page,
    moderator,
    needs,
    require,
    safe_next,
)

STROKES_SHOWN = 25


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
        if stroke is None or not is_seen(stroke):
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
