"""Chooses which waiting comments teach a retraining most if people decide them.

Three things count (Settles 2009, Active Learning Literature Survey, sections 3 and 5): doubt, as
a sure verdict teaches little; being typical of what waits, as an oddity teaches nothing but itself
(information density); and being unlike what was chosen already, as forty copies teach what one
does. So the choice is greedy: after each one the others are valued anew. Few of one campaign, of
one near-copy and of one sender are taken at all, however they score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.domain.comment import CommentId, SiteId

# What a comment consists of, each with its share of a vector of length 1.
Features = Mapping[str, float]

# Looked at; the newest, as an old wave may be over.
MAX_CANDIDATES = 500
MAX_CHOSEN = 40
# Of one campaign, near-copy or sender: a second one guards against a slip with the first.
MOST_OF_A_KIND = 2
# How much the two other things count beside doubt, which lies in [0, 1] as they do. A choice of
# ours, not a measurement: what the list is worth, `tests/benchmarks/active_selection.py` tells.
_TYPICAL = 0.5
_NEW = 0.25
_TINY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A waiting comment as it is chosen by.

    `kinds` are keys that it shares with others of its campaign, copies and sender: of each at
    most `MOST_OF_A_KIND` are chosen. `words` are those of its text, `signals` what fired,
    `is_new` whether it links to a domain that was not linked to before.
    """

    comment_id: CommentId
    site_id: SiteId
    p_spam: float
    ham_cutoff: float
    spam_cutoff: float
    kinds: frozenset[str]
    words: frozenset[str]
    signals: frozenset[str]
    is_new: bool = False


def doubt_of(candidate: Candidate) -> float:
    """Return 1 where a comment is halfway between the cutoffs in log-odds, 0 at either of them.

    In log-odds, because the cutoffs are promises of very different size: of the shipped version's,
    2.2 % and 99 %, the middle is at 60 %.
    """
    low, high, at = (
        _log_odds(p) for p in (candidate.ham_cutoff, candidate.spam_cutoff, candidate.p_spam)
    )
    half = (high - low) / 2
    if half <= 0:
        return 0.0
    return max(0.0, 1.0 - abs(at - (low + half)) / half)


def select_for_labelling(
    candidates: Sequence[Candidate], *, most: int = MAX_CHOSEN
) -> tuple[CommentId, ...]:
    """Return the comments that teach most, the best first, at most `most`.

    Of more than `MAX_CANDIDATES` the first ones are looked at; which come first among equals
    follows the order given. The same candidates give the same choice. Where several sites wait,
    none gets more than twice its even share.
    """
    some = candidates[:MAX_CANDIDATES]
    if not some:
        return ()
    features = _features(some)
    values = _values(some, features)
    most_of_site = math.ceil(2 * most / len({one.site_id for one in some}))
    nearest = [0.0] * len(some)
    taken: Counter[str] = Counter()
    of_site: Counter[SiteId] = Counter()
    waiting = set(range(len(some)))
    chosen: list[int] = []
    while len(chosen) < most and waiting:
        at = max(waiting, key=lambda i: (values[i] * (1.0 - nearest[i]), -i))
        waiting.remove(at)
        one = some[at]
        full = any(taken[kind] >= MOST_OF_A_KIND for kind in one.kinds)
        if full or of_site[one.site_id] >= most_of_site:
            continue
        chosen.append(at)
        taken.update(one.kinds)
        of_site[one.site_id] += 1
        for i in waiting:
            nearest[i] = max(nearest[i], _likeness(features[i], features[at]))
    return tuple(some[at].comment_id for at in chosen)


def _values(some: Sequence[Candidate], features: Sequence[Features]) -> list[float]:
    # How like all others a comment is on average is one product with their sum.
    total: Counter[str] = Counter()
    for one in features:
        total.update(one)
    density = [_likeness(one, total) - _likeness(one, one) for one in features]
    most = max(*density, _TINY)
    return [
        doubt_of(one) + _TYPICAL * like / most + _NEW * one.is_new
        for one, like in zip(some, density, strict=True)
    ]


def _features(some: Sequence[Candidate]) -> list[Features]:
    """Return unit vectors: words and signals, the rarer among the candidates the heavier."""
    own = [list(_marks(one)) for one in some]
    seen = Counter(mark for marks in own for mark in marks)
    weights = {mark: math.log(1.0 + len(some) / n) for mark, n in seen.items()}
    features: list[Features] = []
    for marks in own:
        length = math.sqrt(sum(weights[mark] ** 2 for mark in marks))
        features.append({mark: weights[mark] / length for mark in marks})
    return features


def _likeness(one: Features, other: Features) -> float:
    """Return the product of two vectors: the cosine of their angle, if both are of length 1."""
    if len(other) < len(one):
        one, other = other, one
    return sum(share * other.get(mark, 0.0) for mark, share in one.items())


def _marks(one: Candidate) -> Iterator[str]:
    yield from (f"w{word}" for word in sorted(one.words))
    yield from (f"s{signal}" for signal in sorted(one.signals))


def _log_odds(p: float) -> float:
    bounded = min(max(p, _TINY), 1 - _TINY)
    return math.log(bounded / (1 - bounded))
