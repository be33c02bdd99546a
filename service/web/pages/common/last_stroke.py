"""Tells on the next page what was decided on many comments at once, as it stands now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from flask import request, session

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.site import Site
from service.domain.stroke import Stroke, StrokeOf
from service.domain.user import Permission
from service.ports.services import Services
from service.web.edge.language import gettext, ngettext, noted
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator
from service.web.pages.common.presenting import Moment, tell_time

_JUST_DONE = "just_done_stroke"
_WHAT_IN_WORDS = {
    StrokeOf.SELECTION: noted("Chosen one by one"),
    StrokeOf.SEARCH: noted("Found by a search"),
    StrokeOf.CAMPAIGN: noted("A campaign"),
    StrokeOf.RING: noted("A ring"),
    StrokeOf.SCAN: noted("A scanned screen"),
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
    seen = is_seen(stroke) and all(
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


def is_seen(stroke: Stroke) -> bool:
    """Say whether all that a stroke touched may be shown; one that touched nothing is its maker's.

    Who sees one of its sites alone could not undo it without the others.
    """
    user = moderator()
    if not stroke.site_ids:
        return user.site_ids is None or stroke.decided_by == user.name
    return all(user.sees(site_id) for site_id in stroke.site_ids)


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
