"""Says on pages what decisions taught, how far that is believed, and how often people are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from babel.dates import format_skeleton

from service.domain.comment import SiteId
from service.domain.site import Site
from service.learning.naming import Kind
from service.moderation.insight.asked import AskedThenAndNow
from service.moderation.learning.learnt import (
    Belief,
    Thing,
    beliefs,
    what_was_learnt,
)
from service.ports.services import CommonPorts, LearningPorts, Services
from service.scoring.left import LeftWeek
from service.web.edge.language import (
    current_language,
    gettext,
    ngettext,
    noted,
    number,
    signed,
)
from service.web.pages.common import plots
from service.web.pages.common.marking import Piece, part_text

_SITES_TOLD = 12
_MOST_CHARS = 80
_KINDS = {
    Kind.WORDS: noted("Words"),
    Kind.DOMAIN: noted("Linked domains"),
    Kind.AUTHOR: noted("Authors' sites"),
    Kind.NAME: noted("Shapes of names"),
    Kind.POST: noted("Posts"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingView:
    """One thing that was learnt: itself, what it adds, for which side, from how many decisions."""

    says: tuple[Piece, ...]
    adds: str
    for_spam: bool
    n_decisions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindView:
    """Things of one kind, the strongest first."""

    name: str
    is_shape: bool
    things: tuple[ThingView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntView:
    """What a site's page tells of its learning."""

    belief: str
    kinds: tuple[KindView, ...]
    learns: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefView:
    """How far one site is believed, in words."""

    site: tuple[Piece, ...]
    says: str


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


def learnt_view(site: Site, services: Services) -> LearntView:
    """Return what the site's decisions taught, in words."""
    (belief,) = beliefs(services.learning, services.common, (site.id,))
    things = (
        what_was_learnt(site.id, services.review, services.learning) if site.settings.learns else ()
    )
    return LearntView(
        belief=belief_in_words(belief),
        kinds=tuple(
            KindView(
                name=gettext(name),
                is_shape=kind is Kind.NAME,
                things=tuple(_thing(one) for one in things if one.kind is kind),
            )
            for kind, name in _KINDS.items()
            if any(one.kind is kind for one in things)
        ),
        learns=site.settings.learns,
    )


def _thing(thing: Thing) -> ThingView:
    says = thing.says if len(thing.says) <= _MOST_CHARS else thing.says[:_MOST_CHARS] + "…"
    return ThingView(
        says=part_text(says),
        adds=signed(thing.adds),
        for_spam=thing.adds > 0,
        n_decisions=thing.n_decisions,
    )


def belief_in_words(belief: Belief) -> str:
    """Return one sentence on how far what a site taught counts."""
    if not belief.learns:
        return gettext("It does not learn: the model version alone judges.")
    if not belief.n_decisions:
        return gettext("None of its decisions has taught anything yet.")
    if not belief.is_used:
        return ngettext(
            "What %(num)s decision taught hurt so far and is not used.",
            "What %(num)s decisions taught hurt so far and is not used.",
            belief.n_decisions,
        )
    return ngettext(
        "What %(num)s decision taught is believed to %(percent)s %%.",
        "What %(num)s decisions taught is believed to %(percent)s %%.",
        belief.n_decisions,
        percent=number(belief.trusted * 100),
    )


def belief_views(
    learning: LearningPorts,
    common: CommonPorts,
    site_ids: tuple[SiteId, ...] | None,
    sites: Sequence[Site],
) -> tuple[BeliefView, ...]:
    """Return a sentence for each of the sites that decided most."""
    names = {site.id: site.name for site in sites}
    return tuple(
        BeliefView(site=part_text(names[one.site_id]), says=belief_in_words(one))
        for one in beliefs(learning, common, site_ids)[:_SITES_TOLD]
        if one.site_id in names
    )


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
