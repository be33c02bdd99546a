"""The page of figures: how the last days went, and the same as JSON."""

from __future__ import annotations

from datetime import date, datetime
from http import HTTPStatus

from babel.dates import format_skeleton
from flask import Response, abort, current_app, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.user import Permission
from service.moderation.insight.figures import FigureBook
from service.scoring.figures import Figures
from service.scoring.shares import MIN_COUNT, Share
from service.scoring.stability import SHIFTED
from service.web.api.figure_answers import FiguresAnswer
from service.web.api.route import JSON
from service.web.edge.ids import is_id
from service.web.edge.language import current_language, decimal, gettext, ngettext, number, percent
from service.web.pages.common import plots
from service.web.pages.common.filters import seen_sites
from service.web.pages.common.labels import OUTCOME_HEADINGS
from service.web.pages.common.pages import moderator, needs, pages, require

FIGURES = "slopsieve_figures"
"""Under which extension of an app its figures are kept for a minute."""
SPANS = (7, 30, 90)
_USUAL_SPAN = 30
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@pages.get("/figures")
@needs(Permission.LOOK)
def stats() -> ResponseReturnValue:
    site_id, days = _chosen_site(), _chosen_days()
    figures = _read(site_id, days)
    labels = [_day_name(one.day) for one in figures.days]
    columns = [
        (one.outcomes.ham, one.outcomes.unsure, one.outcomes.spam, one.outcomes.unjudged)
        for one in figures.days
    ]
    return render_template(
        "figures.html",
        figures=figures,
        sites=seen_sites(),
        site_id=site_id,
        days=days,
        spans=SPANS,
        headline=_headline(figures),
        plot=plots.stacked_bars(columns, labels),
        rows=zip(labels, columns, strict=True),
        kinds=_kinds(),
        shifted=SHIFTED,
        least=MIN_COUNT,
        share=share_in_words,
        duration=duration,
        number=number,
        decimal=decimal,
        percent=percent,
    )


@pages.get("/figures.json")
@needs(Permission.LOOK)
def stats_json() -> ResponseReturnValue:
    figures = _read(_chosen_site(), _chosen_days())
    return Response(FiguresAnswer.of(figures).model_dump_json(), content_type=JSON)


def _chosen_days() -> int:
    """Return the span that the query names; nonsense in it means the usual one."""
    given = request.args.get("days", "")
    return next((days for days in SPANS if str(days) == given), _USUAL_SPAN)


def _chosen_site() -> SiteId | None:
    """Return the site that the query names, None for all. Abort if the moderator can't see it."""
    given = request.args.get("site", "")
    if not given:
        return None
    if not is_id(given):
        abort(HTTPStatus.NOT_FOUND)
    require(Permission.LOOK, SiteId(given))
    return SiteId(given)


def _read(site_id: SiteId | None, days: int) -> Figures:
    book: FigureBook = current_app.extensions[FIGURES]
    return book.read(moderator().site_ids if site_id is None else (site_id,), days=days)


def duration(seconds: float) -> str:
    """Return a period of time in its largest unit."""
    whole = round(seconds)
    if whole < _MINUTE:
        return gettext("%(n)s s", n=number(whole))
    if whole < _HOUR:
        return gettext("%(n)s min", n=number(whole // _MINUTE))
    if whole < _DAY:
        return gettext("%(n)s h", n=number(whole // _HOUR))
    return ngettext("%(num)s day", "%(num)s days", whole // _DAY)


def share_in_words(share: Share) -> str:
    """Return a share with its interval, or that there are too few to tell."""
    if share.share is None or share.low is None or share.high is None:
        return gettext("too few to tell")
    return gettext(
        "%(share)s (%(low)s to %(high)s)",
        share=percent(share.share),
        low=percent(share.low),
        high=percent(share.high),
    )


def _day_name(day: date) -> str:
    at_noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001  # a day, not a moment
    return format_skeleton("MMMd", at_noon, locale=current_language())


def _kinds() -> list[tuple[str, str]]:
    """Return each series of the chart: its class in the style sheet, and its name."""
    named = [(outcome.value, gettext(name)) for outcome, name in OUTCOME_HEADINGS.items()]
    return [*named, ("unjudged", gettext("Without a verdict"))]


def _headline(figures: Figures) -> str:
    """Return in a sentence how many comments people were spared."""
    judged = figures.total.judged
    if not judged:
        return gettext("No comment was judged in these days.")
    return gettext(
        "%(share)s of %(judged)s judged comments were settled without a person.",
        share=percent((judged - figures.total.unsure) / judged),
        judged=number(judged),
    )
