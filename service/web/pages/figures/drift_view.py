"""Lays out what has drifted for the page of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from babel.dates import format_skeleton

from service.domain.traffic import Fact, Traffic
from service.moderation.insight.drift import DriftReading
from service.scoring.drift import Drift, Level, Of, Period, Shift
from service.web.api.drift_words import ALARM_WORDS, LEVEL_NAMES
from service.web.edge.language import (
    current_language,
    decimal,
    gettext,
    noted,
    number,
    probability,
)
from service.web.pages.common import plots
from service.web.pages.common.marking import Piece, part_text

SIGNALS_SHOWN = 8
_LANGUAGES_SHOWN = 8
_SCRIPTS = {
    "none": noted("no letters"),
    "other": noted("another script"),
}
_UNTOLD = "untold"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmView:
    """One alarm in words; `name` is the signal's, empty for all else."""

    title: str
    name: str
    level: str
    acts: bool
    says: str
    do: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRow:
    """One row of a table: what it is of, its shares then and now."""

    name: str
    reference: float
    recent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftView:
    """A distribution then and now, its index, and how large chance alone makes it."""

    psi: str
    noise: str
    calm: bool
    rows: tuple[ShareRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """One signal's firing rate then and now."""

    name: str
    reference: float
    recent: float
    psi: str
    calm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyView:
    """A share of each day's verdicts, drawn; `now` is the last day's."""

    id: str
    title: str
    plot: plots.Plot
    rows: tuple[tuple[str, float, int], ...]
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftView:
    """Everything that the page shows of drift."""

    version: tuple[Piece, ...] | None
    compared: str
    alarms: tuple[AlarmView, ...]
    score: ShiftView | None
    score_plot: plots.Plot | None
    signals: tuple[SignalRow, ...]
    languages: ShiftView | None
    rises: tuple[ShareRow, ...]
    daily: tuple[DailyView, ...]


_RISE_NAMES = {
    Of.UNSURE: noted("Unsure"),
    Of.DEGRADED: noted("Degraded"),
    Of.NEW_DOMAINS: noted("Links to a domain first seen within a week"),
}
_DAILY = (
    (Fact.UNSURE, noted("Unsure, of each day's verdicts")),
    (Fact.NEW_DOMAIN, noted("Links to a domain first seen within a week, of each day's verdicts")),
)


def drift_view(reading: DriftReading) -> DriftView:
    """Return what a reading of drift shows, in the reader's language."""
    drift = reading.drift
    return DriftView(
        version=None if drift.version is None else part_text(drift.version),
        compared=_compared(drift),
        alarms=_alarms(drift),
        score=_view(drift.score, _from) if drift.score else None,
        score_plot=_score_plot(drift.score),
        signals=tuple(
            SignalRow(
                name=one.name,
                reference=one.bins[1].reference,
                recent=one.bins[1].recent,
                psi=decimal(one.psi),
                calm=one.level is Level.CALM,
            )
            for one in drift.signals[:SIGNALS_SHOWN]
        ),
        languages=_languages(drift.languages),
        rises=tuple(
            ShareRow(name=gettext(_RISE_NAMES[one.of]), reference=one.reference, recent=one.recent)
            for one in drift.rises
        ),
        daily=tuple(_daily(fact, gettext(title), reading.days) for fact, title in _DAILY),
    )


def _compared(drift: Drift) -> str:
    """Return a sentence on which days are compared, or why none are yet."""
    if drift.own is None or drift.own_recent is None or drift.score is None:
        return gettext(
            "The version that serves has judged too little to be compared with itself yet: it "
            "needs 200 verdicts from before the last week, or 2,000 in all, and 50 since."
        )
    return gettext(
        "The version's first days (%(before)s) are compared with its last ones (%(after)s).",
        before=_days(drift.own),
        after=_days(drift.own_recent),
    )


def _days(period: Period) -> str:
    return gettext(
        "%(first)s to %(last)s, %(n)s verdicts",
        first=day_name(period.first),
        last=day_name(period.last),
        n=number(period.verdicts),
    )


def day_name(day: date) -> str:
    """Return a day without its year in the reader's language."""
    at_noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001  # a day, not a moment
    return format_skeleton("MMMd", at_noon, locale=current_language())


def _alarms(drift: Drift) -> tuple[AlarmView, ...]:
    return tuple(
        AlarmView(
            title=gettext(ALARM_WORDS[one.of].title),
            name=one.name,
            level=gettext(LEVEL_NAMES[one.level]),
            acts=one.level is Level.ACT,
            says=gettext(ALARM_WORDS[one.of].says),
            do=gettext(ALARM_WORDS[one.of].do),
        )
        for one in drift.alarms
    )


def _view(shift: Shift, called: Callable[[str], str], *, most: int | None = None) -> ShiftView:
    return ShiftView(
        psi=decimal(shift.psi),
        noise=decimal(shift.noise),
        calm=shift.level is Level.CALM,
        rows=tuple(
            ShareRow(
                name=called(one.name),
                reference=one.reference,
                recent=one.recent,
            )
            for one in shift.bins[:most]
        ),
    )


def _from(name: str) -> str:
    return gettext("from %(p)s", p=_p(name))


def _p(name: str) -> str:
    """Return a bin of probabilities by where it begins."""
    return probability(float(name))


def _score_plot(shift: Shift | None) -> plots.Plot | None:
    """Return two bars for each bin, then and now, in percent."""
    if shift is None:
        return None
    columns: list[tuple[int, int]] = []
    labels: list[str] = []
    for one in shift.bins:
        columns += [(round(100 * one.reference), 0), (0, round(100 * one.recent))]
        labels += [_p(one.name)] * 2
    return plots.stacked_bars(columns, labels)


def _languages(shift: Shift | None) -> ShiftView | None:
    if shift is None:
        return None
    return _view(shift, _language_name, most=_LANGUAGES_SHOWN)


def _language_name(name: str) -> str:
    language, _, script = name.partition("/")
    if not script:
        return gettext("others")
    script = gettext(_SCRIPTS[script]) if script in _SCRIPTS else script
    if language == _UNTOLD:
        return gettext("not named, %(script)s", script=script)
    return gettext("%(language)s, %(script)s", language=language, script=script)


def _daily(fact: Fact, title: str, days: Sequence[Traffic]) -> DailyView:
    by_day = {one.first: one for one in days}
    shares: list[tuple[str, float, int]] = []
    if by_day:
        day, last = min(by_day), max(by_day)
        while day <= last:
            traffic = by_day.get(day)
            verdicts = traffic.fact(Fact.VERDICTS) if traffic else 0
            share = traffic.fact(fact) / verdicts if traffic and verdicts else 0.0
            shares.append((day_name(day), share, verdicts))
            day += timedelta(days=1)
    return DailyView(
        id=f"drift-{fact.value}",
        title=title,
        plot=plots.line([100 * share for _, share, _ in shares], [day for day, _, _ in shares]),
        rows=tuple(shares),
        now=shares[-1][1] if shares else 0.0,
    )
