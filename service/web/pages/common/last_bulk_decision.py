"""Tells on the next page what was decided on many comments at once, as it stands now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import request, session

from service.domain.bulk_decision import BulkDecision, ChosenBy
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.site import Site
from service.domain.user import Permission
from service.web.edge.language import gettext, ngettext, noted
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, services
from service.web.pages.common.presenting import Moment, tell_time

_JUST_DONE = "just_done_stroke"
_WHAT_IN_WORDS = {
    ChosenBy.SELECTION: noted("Chosen one by one"),
    ChosenBy.SEARCH: noted("Found by a search"),
    ChosenBy.CAMPAIGN: noted("A campaign"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDecisionView:
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


def note_given() -> str | None:
    """Return the note that came with a form, None for an empty one."""
    return request.form.get("note", "").strip() or None


def remember_bulk_decision(bulk_decision: BulkDecision) -> None:
    """Let the next page tell what was done."""
    session[_JUST_DONE] = bulk_decision.id


def just_done_bulk_decision() -> BulkDecisionView | None:
    """Return what was done last on many comments, as it stands now; tell it once."""
    bulk_decision_id = session.pop(_JUST_DONE, None)
    if bulk_decision_id is None:
        return None
    try:
        bulk_decision = services.review.bulk_decisions.get(bulk_decision_id)
    except NotFoundError:
        return None
    sites = {site.id: site for site in services.common.sites.all()}
    return view_bulk_decision(bulk_decision, sites=sites, now=services.common.clock())


def view_bulk_decision(
    bulk_decision: BulkDecision, *, sites: Mapping[SiteId, Site], now: datetime
) -> BulkDecisionView:
    """Return what a page shows of a bulk decision to whoever is signed in."""
    user = moderator()
    seen = is_seen(bulk_decision) and all(
        user.may(Permission.DECIDE, site_id) for site_id in bulk_decision.site_ids
    )
    return BulkDecisionView(
        id=bulk_decision.id,
        told=_told(bulk_decision),
        left_out=_left_out(bulk_decision),
        what=gettext(_WHAT_IN_WORDS[bulk_decision.what]),
        ruling=bulk_decision.ruling,
        n_decided=bulk_decision.n_decided,
        n_in_force=bulk_decision.n_in_force,
        by=part_text(bulk_decision.decided_by),
        when=tell_time(bulk_decision.decided_at, now),
        sites=tuple(
            part_text(sites[site_id].name if site_id in sites else site_id)
            for site_id in bulk_decision.site_ids
        ),
        undone_by=part_text(bulk_decision.undone_by or ""),
        undone=tell_time(bulk_decision.undone_at, now) if bulk_decision.undone_at else None,
        may_undo=seen and bulk_decision.n_in_force > 0 and user.may(Permission.DECIDE),
    )


def is_seen(bulk_decision: BulkDecision) -> bool:
    """Return True if the user may see all of a bulk decision; an empty one is its maker's.

    Who sees one of its sites alone could not undo it without the others.
    """
    user = moderator()
    if not bulk_decision.site_ids:
        return user.site_ids is None or bulk_decision.decided_by == user.name
    return all(user.sees(site_id) for site_id in bulk_decision.site_ids)


def _told(bulk_decision: BulkDecision) -> str:
    if bulk_decision.undone_at is not None:
        return ngettext(
            "%(num)s decision undone.",
            "%(num)s decisions undone.",
            bulk_decision.n_decided - bulk_decision.n_in_force,
        )
    if bulk_decision.ruling is Ruling.APPROVE:
        return ngettext(
            "%(num)s comment approved.", "%(num)s comments approved.", bulk_decision.n_decided
        )
    return ngettext(
        "%(num)s comment rejected.", "%(num)s comments rejected.", bulk_decision.n_decided
    )


def _left_out(bulk_decision: BulkDecision) -> str:
    if not bulk_decision.n_left_out:
        return ""
    return ngettext(
        "%(num)s was skipped: already decided so, or deleted.",
        "%(num)s were skipped: already decided so, or deleted.",
        bulk_decision.n_left_out,
    )
