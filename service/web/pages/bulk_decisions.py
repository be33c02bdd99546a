"""The page of bulk decisions: makes, lists and undoes them."""

from http import HTTPStatus

from flask import abort, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.decision import BulkDecision, ChosenBy
from service.domain.user import Permission
from service.moderation.decisions import decide_together, undo_bulk_decision
from service.web.edge.current import services
from service.web.edge.fields import is_id
from service.web.edge.language import gettext
from service.web.pages import forms
from service.web.pages.blueprint import error_page, go_back, moderator, pages, require

BULK_DECISIONS_SHOWN = 25


def remember_bulk_decision(bulk_decision: BulkDecision) -> None:
    """Show this bulk decision on the next page."""
    session["just_done_bulk_decision"] = [bulk_decision.id]


def just_done_bulk_decision() -> BulkDecision | None:
    """Return the current state of the session's last bulk decision, once."""
    return forms.pop_done("just_done_bulk_decision", services.bulk_decisions.get)


@pages.app_template_filter()
def may_undo(bulk_decision: BulkDecision) -> bool:
    """Return True if part of it is in force and the signed-in user may undo it."""
    user = moderator()
    if bulk_decision.n_in_force == 0 or not user.may(Permission.DECIDE):
        return False
    decides = all(user.may(Permission.DECIDE, site_id) for site_id in bulk_decision.site_ids)
    return decides and _is_seen(bulk_decision)


def _is_seen(bulk_decision: BulkDecision) -> bool:
    """Return True if the user sees all its sites, or made it if it is empty."""
    user = moderator()
    if not bulk_decision.site_ids:
        return user.site_ids is None or bulk_decision.decided_by == user.name
    return all(user.sees(site_id) for site_id in bulk_decision.site_ids)


@pages.post("/review/bulk", needs=Permission.DECIDE)
def bulk() -> ResponseReturnValue:
    ids, ruling = forms.read_ids("id"), forms.read_ruling()
    if not ids:
        advice = gettext("Choose at least one comment.")
        return error_page(HTTPStatus.BAD_REQUEST, gettext("Nothing was decided"), advice)
    bulk_decision = decide_together(
        ids,
        ruling,
        services,
        decided_by=moderator().name,
        what=ChosenBy.SELECTION,
        note=forms.read_note(),
        bulk_decision_id=forms.read_id("stroke"),
        site_ids=moderator().site_ids,
        # The queue shows open comments, so a decision made since must not be replaced.
        open_only=not request.form.get("show"),
    )
    remember_bulk_decision(bulk_decision)
    return go_back()


@pages.post(
    "/review/bulk/<id:bulk_decision_id>/undo",
    endpoint="undo_bulk_decision",
    needs=Permission.DECIDE,
)
def undo(bulk_decision_id: str) -> ResponseReturnValue:
    bulk_decision = services.bulk_decisions.get(bulk_decision_id)
    if not _is_seen(bulk_decision):
        abort(HTTPStatus.NOT_FOUND)
    for site_id in bulk_decision.site_ids:
        require(Permission.DECIDE, site_id)
    undone = undo_bulk_decision(bulk_decision.id, services, undone_by=moderator().name)
    remember_bulk_decision(undone)
    return go_back()


@pages.get("/review/bulk")
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
