"""The detector of the place where a remark turns into an advertisement, or back.

A log-linear model over every run of neighbouring sentences, and over "no advertisement": what each
sentence of the run says, how the advertisement sets in, and how the remark goes on after it. The
best run is found in one pass, as in a semi-Markov conditional random field (Sarawagi and Cohen
2004, NIPS) with one segment.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from service.domain.comment import Comment
from service.domain.sender import History
from service.domain.text import N_, Phrase
from service.signals.cues import Cue
from service.signals.detector import Detector, Observation
from service.signals.segments import Segment, segments_of
from service.signals.view import spans_of

_LONG_WORDS, _SHORT_WORDS = 18, 5
# A weight, and what it is the weight of.
Trait = tuple[float, Callable[..., float]]


@dataclass(slots=True)
class Before:
    """What was said up to a sentence."""

    n: int = 0
    links: bool = False
    figures: bool = False
    hedges: bool = False
    addresses: bool = False
    overlap: float = 0.0

    def add(self, s: Segment) -> None:
        self.n += 1
        self.links = self.links or s.links > 0
        self.figures = self.figures or s.figures
        self.hedges = self.hedges or s.cues[Cue.HEDGE] > 0
        self.addresses = self.addresses or s.cues[Cue.YOU] > 0
        self.overlap += s.overlap


# All weights in log-odds, by `python -m training.seams` (2026-11-21, n=10,630 comments, 824 of them
# with promotion). What each trait of a sentence adds if the sentence lies in the advertisement.
SENTENCE: Mapping[str, Trait] = {
    "any": (-1.29, lambda _: 1.0),
    "offer": (1.44, lambda s: min(s.cues[Cue.OFFER], 3)),
    "vice": (1.59, lambda s: min(s.cues[Cue.VICE], 2)),
    "call": (1.11, lambda s: min(s.cues[Cue.CALL], 2)),
    "pitch": (0.53, lambda s: min(s.cues[Cue.PITCH], 2)),
    "praise": (-0.93, lambda s: min(s.cues[Cue.PRAISE], 2)),
    "you": (-0.27, lambda s: min(s.cues[Cue.YOU], 2)),
    "hedge": (-0.78, lambda s: min(s.cues[Cue.HEDGE], 2)),
    "introduction": (0.88, lambda s: s.cues[Cue.INTRO] > 0),
    "slip": (2.10, lambda s: s.cues[Cue.SLIP] > 0),
    "link": (-1.96, lambda s: s.links > 0),
    "shop_name": (1.51, lambda s: s.shop_links > 0),
    "contact": (4.24, lambda s: s.contacts > 0),
    "price": (0.86, lambda s: min(s.prices, 2)),
    "brand": (0.93, lambda s: s.brands > 0),
    "own_brand": (0.82, lambda s: s.cues[Cue.ME] > 0 and s.brands > 0),
    "own_call": (-1.37, lambda s: s.cues[Cue.ME] > 0 and s.cues[Cue.CALL] > 0),
    "asks": (0.62, lambda s: s.asks),
    "starts_lower": (-0.19, lambda s: s.starts_lower),
    "ends_open": (0.41, lambda s: s.ends_open),
    "dashes": (-1.67, lambda s: s.dashes),
    "capitals": (1.34, lambda s: s.capitals),
    "commas": (0.43, lambda s: s.commas),
    "long": (0.57, lambda s: s.words > _LONG_WORDS),
    "overlap": (-3.80, lambda s: s.overlap),
}
# What speaks for an advertisement that sets in with a sentence, the text before it being a remark.
ENTER: Mapping[str, Trait] = {
    "any": (-2.56, lambda *_: 1.0),
    "after_one_sentence": (0.52, lambda _, before: before.n == 1),
    "introduction": (2.06, lambda s, _: s.cues[Cue.INTRO] > 0),
    "opens": (0.64, lambda s, _: s.opens),
    "starts_lower": (0.45, lambda s, _: s.starts_lower),
    "new_line": (-1.15, lambda s, _: s.new_line),
    "first_you": (0.44, lambda s, before: s.cues[Cue.YOU] > 0 and not before.addresses),
    "link_before": (-2.59, lambda _, before: before.links),
    "figures_before": (-0.93, lambda _, before: before.figures),
    "hedge_before": (-0.99, lambda _, before: before.hedges),
    "overlap_before": (2.27, lambda _, before: before.overlap / before.n),
}
# What speaks for a remark that goes on with a sentence, after the advertisement; True: the last.
LEAVE: Mapping[str, Trait] = {
    "any": (-5.61, lambda *_: 1.0),
    "last_sentence": (2.08, lambda _, is_last: is_last),
    "new_line": (-1.28, lambda s, _: s.new_line),
    "short": (0.44, lambda s, _: s.words < _SHORT_WORDS),
    "praise": (-0.32, lambda s, _: s.cues[Cue.PRAISE] > 0),
    "own": (-0.87, lambda s, _: s.cues[Cue.ME] > 0),
    "overlap": (2.18, lambda s, _: s.overlap),
}
# The run holds a link; it stands between two remarks; it is the whole text.
LINKED, BETWEEN, WHOLE = 4.59, 2.88, -3.45

# So many sentences of thanks and praise may stand between "I'm ..., working at ..." and the offer.
_POLITE_SENTENCES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The advertisement as sentences `[first, last)`, with the log-odds that it is one."""

    first: int
    last: int
    log_odds: float


def sentence_traits(s: Segment) -> tuple[float, ...]:
    """Return a sentence's traits in the order of `SENTENCE`."""
    return tuple(trait(s) for _, trait in SENTENCE.values())


def enter_traits(s: Segment, before: Before) -> tuple[float, ...]:
    """Return the features of a sentence against the text before it, in the order of `ENTER`."""
    return tuple(trait(s, before) for _, trait in ENTER.values())


def leave_traits(s: Segment, *, is_last: bool) -> tuple[float, ...]:
    """Return the features of a possible return to the remark, in the order of `LEAVE`."""
    return tuple(trait(s, is_last) for _, trait in LEAVE.values())


def find_seam(segments: Sequence[Segment], hints: Sequence[float] = ()) -> Shift | None:
    """Return the likeliest advertisement next to a remark, or None for a single sentence.

    Its log-odds are against "no advertisement" and "nothing else". `hints` are further log-odds,
    one for each sentence. It takes time linear in the number of sentences.
    """
    if len(segments) < 2:
        return None
    scores = [_sum(SENTENCE, s) for s in segments]
    if hints:
        scores = [score + hint for score, hint in zip(scores, hints, strict=True)]
    # The best run that ends here, by whether a remark is before it and whether it has a link.
    runs: _Runs = {(False, False): (0.0, 0)}
    best = (-math.inf, 0, 0)
    before = Before()
    for place, (segment, score) in enumerate(zip(segments, scores, strict=True)):
        if place:
            leave = _sum(LEAVE, segment, place == len(segments) - 1)
            ended = (
                (total + LINKED * linked + leave + BETWEEN * after_remark, first, place)
                for (after_remark, linked), (total, first) in runs.items()
            )
            best = max(best, *ended, key=itemgetter(0))
            _keep(runs, (True, False), (_sum(ENTER, segment, before), place))
        grown: _Runs = {}
        for (after_remark, linked), (total, first) in runs.items():
            _keep(grown, (after_remark, linked or segment.links > 0), (total + score, first))
        runs = grown
        before.add(segment)
    # The whole text is no run.
    ended = (
        (total + LINKED * linked, first, len(segments))
        for (after_remark, linked), (total, first) in runs.items()
        if after_remark
    )
    log_odds, first, last = max(best, *ended, key=itemgetter(0))
    whole = sum(scores) + WHOLE + LINKED * any(s.links for s in segments)
    # The logarithm of the sum of both odds, without overflow.
    against = max(0.0, whole) + math.log1p(math.exp(-abs(whole)))
    return _from_introduction(Shift(first=first, last=last, log_odds=log_odds - against), segments)


def _from_introduction(shift: Shift, segments: Sequence[Segment]) -> Shift:
    """Return the run from where its writer is introduced: thanks may stand between that and it."""
    for place in range(max(1, shift.first - _POLITE_SENTENCES), shift.first):
        if segments[place].cues[Cue.INTRO]:
            return replace(shift, first=place)
    return shift


_Runs = dict[tuple[bool, bool], tuple[float, int]]


def _keep(runs: _Runs, kind: tuple[bool, bool], run: tuple[float, int]) -> None:
    """Keep a run, its log-odds and first sentence, if it is the best of its kind."""
    if kind not in runs or run[0] > runs[kind][0]:
        runs[kind] = run


def _sum(traits: Mapping[str, Trait], *of: object) -> float:
    return float(sum(weight * trait(*of) for weight, trait in traits.values()))


# The advertisement must stand out this much, in log-odds, to be shown to a moderator: 0.5 % of the
# ham fires, and 68 % of the seams are found (2026-11-21, 2,427 ham, 83 seams).
_MIN_LOG_ODDS = 0.12
# Beyond this a strength is 1 to every digit that counts.
_MOST_LOG_ODDS = 30.0
# Below this a remark is no side of its own: a greeting, a name, a heading.
_MIN_REMARK_CHARS = 14


@Detector
def abrupt_shift(comment: Comment, _history: History) -> Observation | None:
    """Fire where neighbouring parts of a comment are a remark and an advertisement."""
    segments = segments_of(comment)
    shift = find_shift(segments)
    if shift is None or shift.log_odds < _MIN_LOG_ODDS:
        return None
    return describe_shift(shift, segments)


def find_shift(segments: Sequence[Segment], hints: Sequence[float] = ()) -> Shift | None:
    """Return the likeliest advertisement next to a long enough remark, however unlikely it is.

    `hints` are those of `find_seam`.
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
    before, after = segments[: shift.first], segments[shift.last :]
    advert = segments[shift.first : shift.last]
    boundaries = [advert[0].start] if before else []
    boundaries += [s.start for s in after[:1]]
    return Observation(
        strength=1 / (1 + math.exp(-min(shift.log_odds, _MOST_LOG_ODDS))),
        reason=_reason(before, advert, after),
        spans=spans_of([(advert[0].start, advert[-1].end)]),
        boundaries=tuple(boundaries),
    )


# The reasons of a seam.
BETWEEN_REMARKS = N_("between two remarks (%(remark)s) stands an advertisement (%(sells)s)")
INTO_ADVERT = N_("a remark turns into an advertisement; before: %(remark)s; after: %(sells)s")
INTO_REMARK = N_("an advertisement turns into a remark; before: %(sells)s; after: %(remark)s")


def _reason(
    before: Sequence[Segment], advert: Sequence[Segment], after: Sequence[Segment]
) -> Phrase:
    remark, sells = _tell_sides([*before, *after], advert)
    said = (BETWEEN_REMARKS if after else INTO_ADVERT) if before else INTO_REMARK
    what = Phrase(said, remark=remark, sells=sells)
    if not before or not any(s.links for s in advert):
        return what
    both, after_it = Phrase("links on both sides"), Phrase("the link comes after the seam")
    link = both if any(s.links for s in before) else after_it
    return Phrase("%(what)s; %(link)s", what=what, link=link)


def _tell_sides(
    remark: Sequence[Segment], advert: Sequence[Segment]
) -> tuple[tuple[Phrase, ...], tuple[Phrase, ...]]:
    """Return a few words on each side; grammar is mentioned where the sides differ in it."""
    said = [_person(remark)]
    if _has(remark, Cue.PRAISE):
        said.insert(0, Phrase("praise"))
    if any(s.overlap > 0 for s in remark):
        said.append(Phrase("about the post"))
    sells = [_what_it_does(advert), _person(advert)]
    slips = _slips(advert)
    if slips and not _slips(remark):
        said.insert(0, Phrase("no slips seen"))
        sells.insert(0, slips)
    return tuple(said), tuple(sells)


def _has(side: Sequence[Segment], cue: Cue) -> bool:
    return any(s.cues[cue] for s in side)


def _person(side: Sequence[Segment]) -> Phrase:
    if _has(side, Cue.ME):
        return Phrase("first person")
    return Phrase("second person") if _has(side, Cue.YOU) else Phrase("impersonal")


def _slips(side: Sequence[Segment]) -> Phrase | None:
    if _has(side, Cue.SLIP):
        return Phrase("slips in grammar")
    careless = sum(s.starts_lower or s.ends_open for s in side)
    return Phrase("careless with marks and capitals") if 2 * careless > len(side) else None


def _what_it_does(advert: Sequence[Segment]) -> Phrase:
    """Return in words what an advertisement does to its reader: its two clearest traits."""
    traits = (
        (_has(advert, Cue.INTRO), Phrase("introduces its writer")),
        (_has(advert, Cue.CALL), Phrase("calls on the reader to act")),
        (_has(advert, Cue.OFFER) or any(s.prices for s in advert), Phrase("names an offer")),
        (any(s.contacts for s in advert), Phrase("gives contact details")),
        (any(s.links for s in advert), Phrase("gives a link")),
        (_has(advert, Cue.YOU), Phrase("addresses the reader")),
        (any(s.brands for s in advert), Phrase("names a product")),
    )
    seen = [words for holds, words in traits if holds][:2]
    if len(seen) == 2:
        return Phrase("%(one)s and %(other)s", one=seen[0], other=seen[1])
    return seen[0] if seen else Phrase("promotes something")
