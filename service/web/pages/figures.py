"""The page of figures, and the same as JSON."""

import math
from datetime import date, datetime
from http import HTTPStatus

from babel.dates import format_skeleton
from flask import Response, abort, current_app, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.user import Permission
from service.moderation.figures import FiguresCache
from service.scoring.period import MIN_COUNT, SHIFTED, Figures
from service.web.api.figures import FIGURES, FiguresAnswer
from service.web.edge.fields import is_id
from service.web.edge.language import current_language
from service.web.edge.operation import JSON
from service.web.pages.blueprint import moderator, pages, require
from service.web.pages.template_filters import seen_sites

SPANS = (7, 30, 90)
_USUAL_SPAN = 30
_MAX_TICKS = 5


@pages.get("/figures")
def figures() -> ResponseReturnValue:
    site_id, days = _chosen_site(), _chosen_days()
    found = _read(site_id, days)
    received = (one.outcomes.judged + one.outcomes.unjudged for one in found.days)
    return render_template(
        "figures.html",
        figures=found,
        sites=seen_sites(),
        site_id=site_id,
        days=days,
        spans=SPANS,
        ticks=ticks_up_to(max(received, default=0)),
        shifted=SHIFTED,
        least=MIN_COUNT,
    )


@pages.get("/figures.json")
def figures_json() -> ResponseReturnValue:
    found = _read(_chosen_site(), _chosen_days())
    return Response(FiguresAnswer.from_value(found).model_dump_json(), content_type=JSON)


def _chosen_days() -> int:
    days = request.args.get("days", type=int)
    return days if days in SPANS else _USUAL_SPAN


def _chosen_site() -> SiteId | None:
    """Return the query's site, or None for all. Abort if the moderator can't see it."""
    given = request.args.get("site", "")
    if not given:
        return None
    if not is_id(given):
        abort(HTTPStatus.NOT_FOUND)
    require(Permission.LOOK, SiteId(given))
    return SiteId(given)


def _read(site_id: SiteId | None, days: int) -> Figures:
    cache: FiguresCache = current_app.extensions[FIGURES]
    return cache.read(moderator().site_ids if site_id is None else (site_id,), days=days)


@pages.app_template_filter()
def short_day(day: date) -> str:
    """Return a localised day without its year."""
    at_noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001  # only the day is used
    return format_skeleton("MMMd", at_noon, locale=current_language())


def ticks_up_to(most: int) -> range:
    """Return at most `_MAX_TICKS` evenly spaced round numbers from 0 to one not below `most`."""
    most = max(most, 1)
    rough = most / (_MAX_TICKS - 1)
    power = 10 ** max(0, math.floor(math.log10(rough)))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    return range(0, most + step, step)
