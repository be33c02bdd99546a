"""Sees the point where a remark turns into an advertisement, or back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.seam import Shift, find_seam
from service.signals.segments import Segment, segments_of
from service.signals.sides import tell_link, tell_sides
from service.signals.spans import spans_of

# The advertisement must stand out this much, in log-odds, before a moderator is told. Chosen on the
# calibration part (2026-11-21, 83 seams, 2,427 ham) so that 0.5 % of the ham fires: 68 % of the
# seams are found; 59 % at 0.25 % of the ham. To ask for two kinds of evidence as well loses 9
# points of a hundred at the same false alarms.
_MIN_LOG_ODDS = 0.12
# Beyond this a strength is 1 to every digit that counts.
_MOST_LOG_ODDS = 30.0
# Below this a remark is no side of its own: a greeting, a name, a heading.
_MIN_REMARK_CHARS = 14


def abrupt_shift(comment: Comment, _history: History) -> Signal | None:
    """Fire where neighbouring parts of a comment are a remark and an advertisement."""
    segments = segments_of(comment)
    shift = find_shift(segments)
    if shift is None or shift.log_odds < _MIN_LOG_ODDS:
        return None
    return describe_shift("abrupt_shift", shift, segments)


def find_shift(segments: Sequence[Segment], hints: Sequence[float] = ()) -> Shift | None:
    """Return the likeliest advertisement beside a remark worth the name, however unlikely it is.

    `hints` are log-odds from another witness, one a sentence.
    """
    shift = find_seam(segments, hints)
    if shift is None:
        return None
    before, after = segments[: shift.first], segments[shift.last :]
    if _chars(before) < _MIN_REMARK_CHARS and all(s.asks for s in before):
        # "Water damage?" is how an advertisement opens.
        shift, before = replace(shift, first=0), ()
    return shift if _chars([*before, *after]) >= _MIN_REMARK_CHARS else None


def _chars(segments: Sequence[Segment]) -> int:
    return sum(s.end - s.start for s in segments)


def describe_shift(name: str, shift: Shift, segments: Sequence[Segment]) -> Signal:
    """Return the signal that tells of a shift: where, and both sides' style in words."""
    advert = segments[shift.first : shift.last]
    boundaries = [advert[0].start] if shift.first else []
    boundaries += [s.start for s in segments[shift.last : shift.last + 1]]
    return Signal(
        name=name,
        strength=1 / (1 + math.exp(-min(shift.log_odds, _MOST_LOG_ODDS))),
        reason=_reason(shift, segments),
        spans=spans_of([(advert[0].start, advert[-1].end)]),
        boundaries=tuple(boundaries),
    )


def _reason(shift: Shift, segments: Sequence[Segment]) -> str:
    advert = segments[shift.first : shift.last]
    before, after = segments[: shift.first], segments[shift.last :]
    remark, sells = tell_sides([*before, *after], advert)
    link = tell_link(before, advert)
    if before and after:
        what = f"between two remarks ({remark}) stands an advertisement ({sells})"
    elif before:
        what = f"a remark turns into an advertisement; before: {remark}; after: {sells}"
    else:
        what = f"an advertisement turns into a remark; before: {sells}; after: {remark}"
    return f"{what}; {link}" if link and before else what


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
            text="the third valve was stuck so i took it out and cleaned it and put it back and now"
            " it works thank you. Grüße aus Kassel, und falls jemand noch ein Ventil sucht: der"
            " Baumarkt am Hafen hat welche.\n\n--\nJan\nhttps://jan.example.org",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="I am Ana, a plumber for twenty years. You never open the top valve first,"
            " whatever the leaflet says. P.S. Thank you for the drawings!",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="Lovely cake! Beat 3 eggs, add 200 g sugar, bake 40 minutes. Ma grand-mère mettait"
            " un peu de rhum, mais pas trop.",
            post_title="My grandmother's lemon cake",
        ),
    ),
)
