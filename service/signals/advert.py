"""Says how much a sentence reads like advertising copy."""

from __future__ import annotations

from collections.abc import Sequence

from service.signals.lexicon import Cue
from service.signals.segments import Segment

# How much each trait of a sentence speaks for advertising copy, in log-odds.
# 2026-11-20, logistic regression on 7,942 sentences of data/authored-*.jsonl (18 % inside a
# promotional span), rounded; grouped by post in five folds its ROC AUC was 0.87. Four are set by
# hand: introductions (up to 3.0 from -0.3: they mark where an advert starts, which the sentence
# alone cannot show), brands (down from 2.7), slips (1.8) and questions (1.4), because honest
# second-language writers and curious readers make more of them than the authored ham does.
_BASE = -2.4
_LINK = 2.8
_LINK_OF_OWN = -0.9
_SHOP_NAME = 0.9
_CONTACT = 3.0
_BRAND = 2.0
_PRICE = 1.2
_SLIP = 1.5
_INTRODUCTION = 3.0
_SHOUT = 0.2
_EXCLAIM = 0.2
_ASK = 0.4
_LONG = 0.6
_STARTS_LOWER = 0.3
_OVERLAP = -3.9
_CUES = {
    Cue.OFFER: (1.3, 3),
    Cue.VICE: (1.25, 2),
    Cue.CALL: (1.1, 2),
    Cue.PITCH: (0.45, 2),
    Cue.PRAISE: (-0.6, 2),
    Cue.HEDGE: (-0.45, 2),
}
_LONG_WORDS = 18


def advert_score(segment: Segment) -> float:
    """Return the log-odds that a sentence belongs to an advertisement, by its traits alone."""
    score = _BASE + _OVERLAP * segment.overlap
    for cue, (weight, most) in _CUES.items():
        score += weight * min(segment.count(cue), most)
    if segment.links:
        score += _LINK + (_SHOP_NAME if segment.shop_links else 0.0)
        score += _LINK_OF_OWN if segment.count(Cue.ME) else 0.0
    score += _CONTACT * bool(segment.contacts) + _BRAND * bool(segment.brands)
    score += _PRICE * min(segment.prices, 2) + _SLIP * bool(segment.count(Cue.SLIP))
    if segment.count(Cue.INTRO) and not segment.count(Cue.HEDGE):
        score += _INTRODUCTION
    score += _SHOUT * min(segment.shouts, 3) + _EXCLAIM * segment.exclaims + _ASK * segment.asks
    return score + _LONG * (segment.words > _LONG_WORDS) + _STARTS_LOWER * segment.starts_lower


def kinds_of(segments: Sequence[Segment]) -> int:
    """Count the kinds of advertising evidence, so that no single trait makes an advert."""
    return sum(
        (
            any(s.links or s.contacts for s in segments),
            any(s.shop_links for s in segments),
            any(s.count(Cue.OFFER) or s.prices for s in segments),
            any(s.count(Cue.VICE) for s in segments),
            any(s.count(Cue.CALL) for s in segments),
            any(s.count(Cue.PITCH) or s.count(Cue.INTRO) for s in segments),
            any(s.brands for s in segments),
            any(s.count(Cue.SLIP) or s.shouts > 1 for s in segments),
        )
    )


def what_it_does(advert: Sequence[Segment]) -> str:
    """Return in words what an advertisement does to its reader: its two clearest traits."""
    traits = (
        (any(s.count(Cue.INTRO) for s in advert), "introduces its writer"),
        (any(s.count(Cue.CALL) for s in advert), "calls on the reader to act"),
        (any(s.count(Cue.OFFER) or s.prices for s in advert), "names an offer"),
        (any(s.contacts for s in advert), "gives contact details"),
        (any(s.links for s in advert), "gives a link"),
        (any(s.count(Cue.YOU) for s in advert), "addresses the reader"),
        (any(s.brands for s in advert), "names a product"),
        (True, "promotes something"),
    )
    seen = [words for holds, words in traits if holds][:2]
    return " and ".join(seen[:1] if seen[-1] == "promotes something" and len(seen) > 1 else seen)
