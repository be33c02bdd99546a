"""The detector of the place where a remark turns into an advertisement, or back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.phrase import Phrase, noted
from service.signals.detector import Observation, detector
from service.signals.lexicon import Cue
from service.signals.seam import Shift, find_seam
from service.signals.segments import Segment, segments_of
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


@detector
def abrupt_shift(comment: Comment, _history: History) -> Observation | None:
    """Fire where neighbouring parts of a comment are a remark and an advertisement."""
    segments = segments_of(comment)
    shift = find_shift(segments)
    if shift is None or shift.log_odds < _MIN_LOG_ODDS:
        return None
    return describe_shift(shift, segments)


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


def describe_shift(shift: Shift, segments: Sequence[Segment]) -> Observation:
    """Return where a shift is, and both sides' style in words."""
    advert = segments[shift.first : shift.last]
    boundaries = [advert[0].start] if shift.first else []
    boundaries += [s.start for s in segments[shift.last : shift.last + 1]]
    return Observation(
        strength=1 / (1 + math.exp(-min(shift.log_odds, _MOST_LOG_ODDS))),
        reason=_reason(shift, segments),
        spans=spans_of([(advert[0].start, advert[-1].end)]),
        boundaries=tuple(boundaries),
    )


# What is said of a seam, without and with what its links tell.
BETWEEN = noted("between two remarks (%(remark)s) stands an advertisement (%(sells)s)")
INTO_ADVERT = noted("a remark turns into an advertisement; before: %(remark)s; after: %(sells)s")
INTO_REMARK = noted("an advertisement turns into a remark; before: %(sells)s; after: %(remark)s")


def _reason(shift: Shift, segments: Sequence[Segment]) -> Phrase:
    advert = segments[shift.first : shift.last]
    before, after = segments[: shift.first], segments[shift.last :]
    remark, sells = _tell_sides([*before, *after], advert)
    said = (BETWEEN if after else INTO_ADVERT) if before else INTO_REMARK
    what = Phrase(said, remark=remark, sells=sells)
    link = _tell_link(before, advert) if before else None
    return Phrase("%(what)s; %(link)s", what=what, link=link) if link else what


def _tell_sides(
    remark: Sequence[Segment], advert: Sequence[Segment]
) -> tuple[tuple[Phrase, ...], tuple[Phrase, ...]]:
    """Return a few words on each side; grammar is mentioned where the sides differ in it."""
    said = [_person(remark)]
    if any(s.count(Cue.PRAISE) for s in remark):
        said.insert(0, Phrase("praise"))
    if any(s.overlap > 0 for s in remark):
        said.append(Phrase("about the post"))
    sells = [_what_it_does(advert), _person(advert)]
    slips = _slips(advert)
    if slips and not _slips(remark):
        said.insert(0, Phrase("no slips seen"))
        sells.insert(0, slips)
    return tuple(said), tuple(sells)


def _tell_link(before: Sequence[Segment], advert: Sequence[Segment]) -> Phrase | None:
    """Return how links lie about the place where the advertisement begins, if there are any."""
    if not any(s.links for s in advert):
        return None
    if any(s.links for s in before):
        return Phrase("links on both sides")
    return Phrase("the link comes after the seam")


def _person(side: Sequence[Segment]) -> Phrase:
    if any(s.count(Cue.ME) for s in side):
        return Phrase("first person")
    return Phrase("second person") if any(s.count(Cue.YOU) for s in side) else Phrase("impersonal")


def _slips(side: Sequence[Segment]) -> Phrase | None:
    """Return the errors of a side, None for none that was seen."""
    if any(s.count(Cue.SLIP) for s in side):
        return Phrase("slips in grammar")
    careless = sum(s.starts_lower or s.ends_open for s in side)
    return Phrase("careless with marks and capitals") if 2 * careless > len(side) else None


def _what_it_does(advert: Sequence[Segment]) -> Phrase:
    """Return in words what an advertisement does to its reader: its two clearest traits."""
    traits = (
        (any(s.count(Cue.INTRO) for s in advert), Phrase("introduces its writer")),
        (any(s.count(Cue.CALL) for s in advert), Phrase("calls on the reader to act")),
        (any(s.count(Cue.OFFER) or s.prices for s in advert), Phrase("names an offer")),
        (any(s.contacts for s in advert), Phrase("gives contact details")),
        (any(s.links for s in advert), Phrase("gives a link")),
        (any(s.count(Cue.YOU) for s in advert), Phrase("addresses the reader")),
        (any(s.brands for s in advert), Phrase("names a product")),
    )
    seen = [words for holds, words in traits if holds][:2]
    if len(seen) == 2:
        return Phrase("%(one)s and %(other)s", one=seen[0], other=seen[1])
    return seen[0] if seen else Phrase("promotes something")
