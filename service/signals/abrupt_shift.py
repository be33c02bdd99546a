"""Sees the point where a remark turns into an advertisement, or back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.advert import advert_score, kinds_of, what_it_does
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.spans import spans_of
from service.signals.stretches import Stretch, stretches_of

# One sentence can neither carry a whole advert nor break one in two.
_LEAST, _MOST = -0.7, 5.0
# How much the two sides together speak for a seam, in log-odds.
# 2026-11-20, logistic regression on 1,648 comments of data/authored-*.jsonl with two sentences or
# more (519 with a marked seam, the rest ham), rounded; grouped by post in five folds its ROC AUC is
# 0.97 and it finds 71 % of the seams where 1 % of the ham fires; the best run's sum alone, 55 %.
_SEAM_BASE = -3.5
_SEAM_ADVERT = 0.6
_SEAM_PEAK = 0.35
_SEAM_KIND = 0.8
_SEAM_OWN_ADVERT = -0.7
_SEAM_AT_END = 1.6
_SEAM_REST = -0.8
_SEAM_REST_PEAK = 0.2
_SEAM_REST_OWN = -0.7
_SEAM_REST_PRAISE = 0.8
_SEAM_REST_HEDGE = -1.3
_SEAM_REST_FIGURES = -0.9
_SEAM_REST_LONG = -0.5
_LONG_REST = 3

# The advert must stand out this much before a moderator is told; below it ham fires too often.
_MIN_CONTRAST = 1.4
# One trait alone, however strong, makes no advert: a link, a price and a brand all have ham twins.
_MIN_KINDS = 2
# Below this a remark is no side of its own: a greeting, a name, a heading.
_MIN_REMARK_CHARS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The advert as sentences `[first, last)` of the comment, with how far it stands out."""

    first: int
    last: int
    contrast: float


def abrupt_shift(comment: Comment, _history: History) -> Signal | None:
    """Fire where neighbouring parts of a comment are a remark and an advertisement."""
    stretches = stretches_of(comment)
    shift = find_shift(stretches)
    if shift is None:
        return None
    advert = stretches[shift.first : shift.last]
    return Signal(
        name="abrupt_shift",
        strength=1 / (1 + math.exp(-shift.contrast)),
        reason=_reason(shift, stretches),
        spans=spans_of([(advert[0].start, advert[-1].end)]),
    )


def find_shift(stretches: Sequence[Stretch]) -> Shift | None:
    """Return the run of sentences that stands out as an advert beside a remark, if one does."""
    scores = [advert_score(stretch) for stretch in stretches]
    first, last, sum_of_run = _best_run([min(max(s, _LEAST), _MOST) for s in scores])
    advert = stretches[first:last]
    rest = [*stretches[:first], *stretches[last:]]
    if not advert or sum(s.end - s.start for s in rest) < _MIN_REMARK_CHARS:
        return None
    kinds = kinds_of(advert)
    contrast = (
        _SEAM_BASE
        + _SEAM_ADVERT * sum_of_run
        + _SEAM_PEAK * max(scores[first:last])
        + _SEAM_KIND * kinds
        + _SEAM_OWN_ADVERT * any(s.count(Cue.ME) for s in advert)
        + _SEAM_AT_END * (last == len(stretches))
        + _rest_side(rest, [*scores[:first], *scores[last:]])
    )
    if kinds < _MIN_KINDS or contrast < _MIN_CONTRAST:
        return None
    return Shift(first=first, last=last, contrast=contrast)


def _rest_side(rest: Sequence[Stretch], scores: Sequence[float]) -> float:
    """Return what the remark adds: impersonal praise stands apart, a writer who weighs does not."""
    return (
        _SEAM_REST * sum(scores) / len(scores)
        + _SEAM_REST_PEAK * max(scores)
        + _SEAM_REST_OWN * sum(s.count(Cue.ME) > 0 for s in rest) / len(rest)
        + _SEAM_REST_PRAISE * any(s.count(Cue.PRAISE) for s in rest)
        + _SEAM_REST_HEDGE * any(s.count(Cue.HEDGE) for s in rest)
        + _SEAM_REST_FIGURES * any(s.figures for s in rest)
        + _SEAM_REST_LONG * (len(rest) > _LONG_REST)
    )


def _best_run(scores: Sequence[float]) -> tuple[int, int, float]:
    """Return the run with the greatest sum as (first, end, sum); (0, 0, 0.0) for none."""
    best = (0, 0, 0.0)
    start, total = 0, 0.0
    for index, score in enumerate(scores):
        if total <= 0.0:
            start, total = index, 0.0
        total += score
        if total > best[2]:
            best = (start, index + 1, total)
    return best


def _reason(shift: Shift, stretches: Sequence[Stretch]) -> str:
    advert = stretches[shift.first : shift.last]
    before, after = stretches[: shift.first], stretches[shift.last :]
    does = what_it_does(advert)
    if before and after:
        return f"between two remarks stands an advertisement that {does}"
    if before:
        return f"{_what_was_said(before)} turns into an advertisement that {does}"
    return f"an advertisement that {does} turns into {_what_was_said(after)}"


def _what_was_said(remark: Sequence[Stretch]) -> str:
    own = any(s.count(Cue.ME) for s in remark)
    praise = any(s.count(Cue.PRAISE) for s in remark)
    about = " about the post" if any(s.overlap > 0 for s in remark) else ""
    if praise:
        return f"praise{about}"
    return f"{'a personal' if own else 'an impersonal'} remark{about}"


ABRUPT_SHIFT = Detector(
    name="abrupt_shift",
    detect=abrupt_shift,
    fires_on=(
        Example(
            text="The order of the valves matters more than people think, and you explain it with"
            " admirable clarity. Radiator valves upto 70% OFF, free delivery, order now at"
            " valvehaus-deals.shop hurry up!!",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="What a peaceful photo of the lake at dawn. It reminds me of mornings by the"
            " water. If you ever need a break, I recommend playing Slope Racer 3D online!",
            post_title="Lake at six in the morning",
        ),
        Example(
            text="Cheap essay writing service, 24/7 experts, essayharbor.online - use code FOX15."
            " What an insightful look at grading.",
            post_title="Why I stopped grading homework",
        ),
        Example(
            text="Zehn Tage ohne Heizung, das erfordert Geduld. Ventile günstig kaufen, 20 % Rabatt"
            " und kostenloser Versand auf ventil-kaufen.de! Wie warm war es am Ende?",
            post_title="Heizung entlüften",
        ),
    ),
    silent_on=(
        Example(
            text="> Did you open the pump side first?\n\nNo, the third valve. My notes with photos"
            " are at https://ana-karlsson.example.org/valves, sorry for the handwriting.",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="Open the lowest valve first.\n\nEDIT: wrong, I looked again and it is the"
            " highest one on two-pipe systems.",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="I have both. The Brassika is 12 euro and drips after a year, the Tervo costs 30"
            " but nobody sells the gasket any more. If I could keep one, the Tervo.",
            post_title="Which radiator valve?",
        ),
        Example(
            text="Thanks for the script. Mine failed on paths with blanks:\n\n```\nfor f in *; do"
            ' cp "$f" https://backup.shop/; done\n```\n\n--\nJan',
            post_title="A backup in ten lines",
        ),
        Example(
            text="Lovely cake! Beat 3 eggs, add 200 g sugar, bake 40 minutes. Ma grand-mère mettait"
            " un peu de rhum, mais pas trop.",
            post_title="My grandmother's lemon cake",
        ),
    ),
)
