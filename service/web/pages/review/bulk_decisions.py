"""Decides many comments at once, shows what was done so, and takes it back."""

from __future__ import annotations

from http import HTTPStatus

from flask import abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.decision import ChosenBy
from service.domain.user import Permission
from service.moderation.review.bulk_decisions import decide_together, undo_bulk_decision
from service.web.edge.current import services
from service.web.edge.ids import is_id
from service.web.edge.language import gettext
from service.web.pages.common.last_bulk_decision import (
    is_seen,
    just_done_bulk_decision,
    remember_bulk_decision,
)
from service.web.pages.common.pages import (
    error_page,
    go_back,
    moderator,
    needs,
    pages,
    read_id,
    read_ids,
    read_note,
    read_ruling,
    require,
)

BULK_DECISIONS_SHOWN = 25


@pages.post("/review/bulk")
@needs(Permission.DECIDE)
def bulk() -> ResponseReturnValue:
    ids, ruling = read_ids("id"), read_ruling()
    if not ids:
        advice = gettext("Choose at least one comment.")
        return error_page(HTTPStatus.BAD_REQUEST, gettext("Nothing was decided"), advice)
    bulk_decision = decide_together(
        ids,
        ruling,
        services,
        decided_by=moderator().name,
        what=ChosenBy.SELECTION,
        note=read_note(),
        bulk_decision_id=read_id("stroke"),
        site_ids=moderator().site_ids,
        # Whoever selects among those that wait has seen no decision on them.
        open_only=not request.form.get("show"),
    )
    remember_bulk_decision(bulk_decision)
    return go_back()


@pages.post("/review/strokes/<id:bulk_decision_id>/undo", endpoint="undo_bulk_decision")
@needs(Permission.DECIDE)
def undo(bulk_decision_id: str) -> ResponseReturnValue:
    bulk_decision = services.bulk_decisions.get(bulk_decision_id)
    if not is_seen(bulk_decision):
        abort(HTTPStatus.NOT_FOUND)
    for site_id in bulk_decision.site_ids:
        require(Permission.DECIDE, site_id)
    remember_bulk_decision(
        undo_bulk_decision(bulk_decision.id, services, undone_by=moderator().name)
    )
    return go_back()


@pages.get("/review/strokes")
def bulk_decisions() -> ResponseReturnValue:
    before = request.args.get("before", "")
    found = services.bulk_decisions.recent(
        site_ids=moderator().site_ids,
        limit=BULK_DECISIONS_SHOWN + 1,
        before=before if is_id(before) else None,
    )
    shown = found[:BULK_DECISIONS_SHOWN]
    more = shown[-1].id if len(found) > BULK_DECISIONS_SHOWN else None
    return render_template(
        "bulk_decisions.html",
        bulk_decisions=shown,
        done=just_done_bulk_decision(),
        older=url_for("pages.bulk_decisions", before=more) if more else None,
        first=not before,
    )
