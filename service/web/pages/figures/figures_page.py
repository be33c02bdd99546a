"""The page of figures: how the last days went, drawn on the server, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from http import HTTPStatus

from babel.dates import format_skeleton
from babel.numbers import format_decimal
from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.domain.site import Site
from service.domain.user import Permission
from service.moderation.insight.asked import AskedBook
from service.moderation.insight.drift import DriftBook, DriftReading
from service.moderation.insight.figures import FigureBook
from service.ports.services import ClustersPorts, Services
from service.scoring.figures import Audited, Figures, Series
from service.scoring.left import LeftWeek
from service.scoring.shares import Share
from service.scoring.strata import MIN_SEEN, Rate
from service.web.api.figure_answers import FiguresAnswer
from service.web.api.route import JSON
from service.web.edge.ids import is_id
from service.web.edge.language import (
    current_language,
    gettext,
    ngettext,
    number,
    percent,
    signed,
)
from service.web.pages.common import plots
from service.web.pages.common.asked_view import curve_view
from service.web.pages.common.labels import OUTCOME_HEADINGS
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs, require
from service.web.pages.common.targets_view import TargetView, present_targets
from service.web.pages.figures.drift_view import drift_view

SPANS = (7, 30, 90)
_USUAL_SPAN = 30
SITES_DRAWN = 12
_NAME_CHARS = 60
_TARGETS_SHOWN = 2
_SERIES_KINDS = ("one", "two", "three", "four", "five")
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One series of a plot: how it is drawn, and its name; no name for all others together."""

    css: str
    name: tuple[Piece, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackView:
    """Bars of days with their legend and the table behind them."""

    plot: plots.Plot
    kinds: tuple[Kind, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    total: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteView:
    """One site's bar: its name, its parts, its counts in the order of the outcomes."""

    name: tuple[Piece, ...]
    blocks: tuple[plots.Block, ...]
    counts: tuple[int, ...]
    degraded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateView:
    """One estimate: what it is of, in words, and where it lies; no range where too few are seen."""

    title: str
    says: str
    range: plots.Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonView:
    """One person's row; times are empty where none was taken."""

    name: tuple[Piece, ...]
    decisions: int
    singly: int
    in_bulk: int
    timed: int
    median: str
    p90: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignLine:
    """One campaign's row: what its newest members advertise, if anything, and its counts."""

    id: str
    targets: tuple[TargetView, ...]
    comments: int
    waiting: int


def add_figures(pages: Blueprint, services: Services) -> None:
    """Add the page of figures and the same numbers as JSON."""
    book, drifts, asked = (
        FigureBook(services.insight, services.common),
        DriftBook(services),
        AskedBook(services),
    )

    @pages.get("/figures")
    @needs(Permission.LOOK)
    def stats() -> ResponseReturnValue:
        site_id, days = _chosen_site(), _chosen_days()
        figures = book.read(_site_ids(site_id), days=days)
        reading = drifts.read(_site_ids(site_id))
        weeks = asked.weeks(_site_ids(site_id))
        return _show(figures, reading, weeks, services, site_id=site_id, days=days)

    @pages.get("/figures.json")
    @needs(Permission.LOOK)
    def stats_json() -> ResponseReturnValue:
        site_ids = _site_ids(_chosen_site())
        figures, reading = book.read(site_ids, days=_chosen_days()), drifts.read(site_ids)
        answer = FiguresAnswer.of(figures, reading.drift)
        return Response(answer.model_dump_json(), content_type=JSON)


def _chosen_days() -> int:
    """Return the span that the query names; nonsense in it means the usual one."""
    given = request.args.get("days", "")
    return next((days for days in SPANS if str(days) == given), _USUAL_SPAN)


def _chosen_site() -> SiteId | None:
    """Return the site that the query names, None for all. End the request if it is not seen."""
    given = request.args.get("site", "")
    if not given:
        return None
    if not is_id(given):
        abort(HTTPStatus.NOT_FOUND)
    require(Permission.LOOK, SiteId(given))
    return SiteId(given)


def _site_ids(site_id: SiteId | None) -> tuple[SiteId, ...] | None:
    return moderator().site_ids if site_id is None else (site_id,)


def _show(
    figures: Figures,
    reading: DriftReading,
    weeks: Sequence[LeftWeek],
    services: Services,
    *,
    site_id: SiteId | None,
    days: int,
) -> str:
    sites = {site.id: site for site in services.common.sites.all() if moderator().sees(site.id)}
    labels = [_day_name(one.day) for one in figures.days]
    estimates, axis = _estimates(figures)
    return render_template(
        "figures.html",
        figures=figures,
        sites=sites.values(),
        site_id=site_id,
        days=days,
        spans=SPANS,
        labels=labels,
        headline=_headline(figures),
        outcomes=_outcomes(figures, labels),
        by_site=_by_site(figures, sites),
        more_sites=max(0, len(figures.sites) - SITES_DRAWN),
        queue=plots.line([one.waiting for one in figures.days], labels),
        estimates=estimates,
        axis=axis,
        found=_found(figures),
        calibration=plots.calibration(
            [
                (one.stated, one.rejected, one.rejected_low, one.rejected_high)
                for one in figures.calibration
            ],
            [percent_tick(share) for share in plots.QUARTERS],
        ),
        campaigns=_campaigns(figures, services.clusters),
        versions=_stack(figures.versions, figures, labels),
        decided_by=_stack(figures.decided_by, figures, labels),
        people=_people(figures),
        curve=curve_view(weeks),
        drift=drift_view(reading),
        drift_kinds=_then_and_now(),
        percent_whole=percent_of_hundred,
        least=MIN_SEEN,
        **_FORMATS,
    )


def duration(seconds: float) -> str:
    """Return a period of time in its two largest units at most."""
    whole = round(seconds)
    if whole < _MINUTE:
        return gettext("%(n)s s", n=number(whole))
    if whole < _HOUR:
        return gettext("%(n)s min", n=number(whole // _MINUTE))
    if whole < _DAY:
        return gettext("%(n)s h", n=number(whole // _HOUR))
    return ngettext("%(num)s day", "%(num)s days", whole // _DAY)


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    written = format_decimal(seconds, format="0.0", locale=current_language())
    return gettext("%(n)s s", n=written)


def between(low: float, high: float) -> str:
    """Return an interval of shares."""
    return gettext("%(low)s to %(high)s", low=percent(low), high=percent(high))


def _day_name(day: date) -> str:
    at_noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001  # a day, not a moment
    return format_skeleton("MMMd", at_noon, locale=current_language())


def percent_tick(share: float) -> str:
    """Return a share at an axis, in whole percent."""
    return gettext("%(number)s %%", number=number(share * 100))


def percent_of_hundred(value: float) -> str:
    """Return a number that is in percent already, at an axis."""
    return percent_tick(value / 100)


_FORMATS = {
    "number": number,
    "percent_tick": percent_tick,
    "percent": percent,
    "signed": signed,
    "duration": duration,
    "between": between,
}


def _headline(figures: Figures) -> tuple[str, str]:
    """Return two sentences: what was settled without a person, and whom it may have harmed."""
    judged = figures.total.judged
    if not judged:
        return gettext("No comment was judged in these days."), gettext(
            "So there is nothing yet to measure the machine by."
        )
    settled = gettext(
        "%(share)s of %(judged)s judged comments were settled without a person.",
        share=percent(figures.settled / judged),
        judged=number(judged),
    )
    rate = figures.mistakes.false_positive_rate
    if rate is not None:
        harmed = gettext(
            "Of all sincere comments an estimated %(share)s were called spam (%(between)s).",
            share=percent(rate.share),
            between=between(rate.low, rate.high),
        )
    elif not figures.total.spam:
        harmed = gettext("None was called spam, so no sincere person was harmed that way.")
    else:
        harmed = gettext(
            "How many sincere comments were called spam cannot be told yet: too few of the audit "
            "sample are decided."
        )
    return settled, harmed


def _outcomes(figures: Figures, labels: Sequence[str]) -> StackView:
    columns = [
        (one.outcomes.ham, one.outcomes.unsure, one.outcomes.spam, one.outcomes.unjudged)
        for one in figures.days
    ]
    return StackView(
        plot=plots.stacked_bars(columns, labels),
        kinds=_outcome_kinds(),
        rows=tuple(zip(labels, columns, strict=True)),
        total=figures.total.comments,
        most=max((sum(column) for column in columns), default=0),
    )


def _outcome_kinds() -> tuple[Kind, ...]:
    kinds = {outcome.value: gettext(name) for outcome, name in OUTCOME_HEADINGS.items()}
    kinds["unjudged"] = gettext("Without a verdict")
    return tuple(Kind(css=css, name=part_text(name)) for css, name in kinds.items())


def _then_and_now() -> tuple[Kind, ...]:
    return (
        Kind(css="four", name=part_text(gettext("Then"))),
        Kind(css="one", name=part_text(gettext("Now"))),
    )


def _by_site(figures: Figures, sites: Mapping[SiteId, Site]) -> tuple[SiteView, ...]:
    most = max((one.outcomes.comments for one in figures.sites), default=0)
    views = []
    for one in figures.sites[:SITES_DRAWN]:
        outcomes, site = one.outcomes, sites.get(one.site_id)
        counts = (outcomes.ham, outcomes.unsure, outcomes.spam, outcomes.unjudged)
        views.append(
            SiteView(
                name=_name(site.name if site else one.site_id),
                blocks=plots.shares_of(counts, most),
                counts=counts,
                degraded=outcomes.degraded,
            )
        )
    return tuple(views)


def _name(name: str) -> tuple[Piece, ...]:
    """Return a name that anybody may have chosen, cut, with nothing in it unseen."""
    return part_text(name if len(name) <= _NAME_CHARS else name[:_NAME_CHARS] + "…")


def _stack(series: Sequence[Series], figures: Figures, labels: Sequence[str]) -> StackView | None:
    if not series:
        return None
    columns = [tuple(one.by_day[n] for one in series) for n in range(len(figures.days))]
    return StackView(
        plot=plots.stacked_bars(columns, labels),
        kinds=tuple(
            Kind(css=css, name=None if one.name is None else _name(one.name))
            for css, one in zip(_SERIES_KINDS, series, strict=False)
        ),
        rows=tuple(zip(labels, columns, strict=True)),
        total=sum(one.total for one in series),
        most=max(sum(column) for column in columns),
    )


def _estimates(figures: Figures) -> tuple[tuple[EstimateView, ...], tuple[plots.Tick, ...]]:
    """Return what the audit sample says, all on one axis, and that axis's ticks."""
    mistakes = figures.mistakes
    lines: list[tuple[str, str, Share | Rate | None]] = [
        (
            gettext("Ham among what was called spam"),
            _audited_spam(mistakes.called_spam),
            mistakes.called_spam.wrong,
        ),
        (
            gettext("False-positive rate: ham that was called spam"),
            _rate(mistakes.false_positive_rate),
            mistakes.false_positive_rate,
        ),
        (
            gettext("Spam among what was called ham"),
            _audited_ham(mistakes.called_ham),
            mistakes.called_ham.wrong,
        ),
        (
            gettext("Missed spam: spam that was called ham"),
            _rate(mistakes.missed_spam_rate),
            mistakes.missed_spam_rate,
        ),
    ]
    found = [_limits_of(one) for _, _, one in lines]
    drawn = plots.ranges([one for one in found if one is not None])
    ranges = iter(drawn.ranges)
    views = tuple(
        EstimateView(title=title, says=says, range=None if limits is None else next(ranges))
        for (title, says, _), limits in zip(lines, found, strict=True)
    )
    return views, drawn.ticks if drawn.ranges else ()


def _limits_of(one: Share | Rate | None) -> tuple[float, float, float] | None:
    if one is None or one.share is None or one.low is None or one.high is None:
        return None
    return one.low, one.share, one.high


def _audited_spam(audited: Audited) -> str:
    return _audited(
        audited,
        ngettext(
            "Of %(all)s audited spam verdicts %(num)s was ham",
            "Of %(all)s audited spam verdicts %(num)s were ham",
            audited.wrong.count,
            all=number(audited.wrong.n),
        ),
    )


def _audited_ham(audited: Audited) -> str:
    return _audited(
        audited,
        ngettext(
            "Of %(all)s audited ham verdicts %(num)s was spam",
            "Of %(all)s audited ham verdicts %(num)s were spam",
            audited.wrong.count,
            all=number(audited.wrong.n),
        ),
    )


def _audited(audited: Audited, counted: str) -> str:
    limits = _limits_of(audited.wrong)
    if not audited.verdicts:
        return gettext("There was no such verdict.")
    if limits is None:
        return gettext("%(counted)s: too few to tell a share.", counted=counted)
    low, share, high = limits
    return gettext(
        "%(counted)s: %(share)s (%(between)s).",
        counted=counted,
        share=percent(share),
        between=between(low, high),
    )


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return gettext("Too few of the audit sample are decided to tell.")
    return gettext(
        "An estimated %(share)s (%(between)s).",
        share=percent(rate.share),
        between=between(rate.low, rate.high),
    )


def _found(figures: Figures) -> tuple[str, str]:
    """Return two sentences: the mistakes that people came upon, whatever made them look."""
    false_positives, missed = figures.mistakes.false_positives, figures.mistakes.missed_spam
    return (
        gettext(
            "Called spam and approved: %(count)s of %(n)s that anybody decided.",
            count=number(false_positives.count),
            n=number(false_positives.n),
        ),
        gettext(
            "Called ham and rejected: %(count)s of %(n)s that anybody decided.",
            count=number(missed.count),
            n=number(missed.n),
        ),
    )


def _campaigns(figures: Figures, clusters: ClustersPorts) -> tuple[CampaignLine, ...]:
    site_ids = moderator().site_ids
    found = []
    for one in figures.campaigns:
        try:
            campaign = clusters.campaigns.get(one.campaign_id, site_ids=site_ids)
        except NotFoundError:
            # It lost its members within the last minute.
            continue
        found.append(
            CampaignLine(
                id=one.campaign_id,
                targets=present_targets(campaign.targets[:_TARGETS_SHOWN]),
                comments=one.comments,
                waiting=one.waiting,
            )
        )
    return tuple(found)


def _people(figures: Figures) -> tuple[PersonView, ...]:
    return tuple(
        PersonView(
            name=_name(one.name),
            decisions=one.decisions,
            singly=one.decisions - one.in_bulk,
            in_bulk=one.in_bulk,
            timed=one.timed,
            median=_seconds(one.median_seconds),
            p90=_seconds(one.p90_seconds),
        )
        for one in figures.moderators
    )
