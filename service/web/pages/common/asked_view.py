"""Says on pages how often people are asked: of the last comments, and by week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from babel.dates import format_skeleton

from service.moderation.insight.asked import AskedThenAndNow
from service.scoring.left import LeftWeek
from service.web.edge.language import current_language, gettext, number
from service.web.pages.common import plots


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekView:
    """One week of the table behind the curve; `alone` is empty where it is not known."""

    name: str
    judged: int
    left: str
    alone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveView:
    """The share left to a person by week, and beside it that without learning where they differ."""

    plot: plots.Plot
    differs: bool
    weeks: tuple[WeekView, ...]


def asked_in_words(asked: AskedThenAndNow | None) -> str:
    """Return how often people are asked now and were asked in the first week, empty for unknown."""
    if asked is None:
        return ""
    return gettext(
        "Of the last %(now)s comments you were asked about %(asked_now)s; "
        "in the first week about %(asked_then)s of %(then)s.",
        now=number(asked.n_now),
        asked_now=number(asked.asked_now),
        then=number(asked.n_then),
        asked_then=number(asked.asked_then),
    )


def curve_view(weeks: Sequence[LeftWeek]) -> CurveView | None:
    """Return the curve of these weeks, None as long as there are fewer than two."""
    # A line needs two points.
    if len(weeks) < 2:
        return None
    labels = [_day_name(one.monday) for one in weeks]
    known = [one for one in weeks if one.left_alone is not None]
    alone = [None if one.share_alone is None else one.share_alone * 100 for one in weeks]
    differs = any(one.left_alone != one.left for one in known)
    return CurveView(
        plot=plots.line([one.share * 100 for one in weeks], labels, alone if differs else ()),
        differs=differs,
        weeks=tuple(
            WeekView(
                name=label,
                judged=one.judged,
                left=_percent(one.share),
                alone="" if one.share_alone is None else _percent(one.share_alone),
            )
            for label, one in zip(labels, weeks, strict=True)
        ),
    )


def _day_name(day: date) -> str:
    at_noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001  # a day, not a moment
    return format_skeleton("MMMd", at_noon, locale=current_language())


def _percent(share: float) -> str:
    return gettext("%(number)s %%", number=number(share * 100))
