"""Chooses which waiting comments teach a retraining most if people decide them.

Three things count (Settles 2009, Active Learning Literature Survey, sections 3 and 5): doubt, as
a sure verdict teaches little; being typical of what waits, as an oddity teaches nothing but itself
(information density); and being unlike what was chosen already, as forty copies teach what one
does. So the choice is greedy: after each one the others are valued anew. Few of one campaign, of
one near-copy and of one sender are taken at all, however they score.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.domain.comment import CommentId, SiteId

FloatArray = npt.NDArray[np.float32]

# Looked at; the newest, as an old wave may be over.
MAX_CANDIDATES = 500
MAX_CHOSEN = 40
# Of one campaign, near-copy or sender: a second one guards against a slip with the first.
MOST_OF_A_KIND = 2
# Words are counted into this many places; that two words meet in one is rare and harmless.
_PLACES = 2_048
# How much the two other things count beside doubt, which lies in [0, 1] as they do. Chosen on the
# authored comments, see `tests/benchmarks/active_selection.py`.
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


def choose_teaching(
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
    alike = features @ features.T
    values = _values(some, alike)
    most_of_site = math.ceil(2 * most / len({one.site_id for one in some}))
    nearest = np.zeros(len(some), dtype=np.float32)
    taken: Counter[str] = Counter()
    of_site: Counter[SiteId] = Counter()
    open_ones = np.ones(len(some), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < most and open_ones.any():
        worth = np.where(open_ones, values * (1.0 - nearest), -np.inf)
        at = int(worth.argmax())
        open_ones[at] = False
        one = some[at]
        full = any(taken[kind] >= MOST_OF_A_KIND for kind in one.kinds)
        if full or of_site[one.site_id] >= most_of_site:
            continue
        chosen.append(at)
        taken.update(one.kinds)
        of_site[one.site_id] += 1
        nearest = np.maximum(nearest, np.clip(alike[at], 0.0, 1.0))
    return tuple(some[at].comment_id for at in chosen)


def _values(some: Sequence[Candidate], alike: FloatArray) -> FloatArray:
    doubt = np.array([doubt_of(one) for one in some], dtype=np.float32)
    density = (alike.sum(axis=1) - alike.diagonal()) / max(1, len(some) - 1)
    typical = density / max(float(density.max()), _TINY)
    new = np.array([one.is_new for one in some], dtype=np.float32)
    values: FloatArray = doubt + _TYPICAL * typical + _NEW * new
    return values


def _features(some: Sequence[Candidate]) -> FloatArray:
    """Return unit vectors: words and signals, the rarer among the candidates the heavier."""
    own = [list(_marks(one)) for one in some]
    seen = Counter(mark for marks in own for mark in set(marks))
    features = np.zeros((len(some), _PLACES), dtype=np.float32)
    for row, marks in enumerate(own):
        for mark in marks:
            features[row, _place(mark)] += math.log(1.0 + len(some) / seen[mark])
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    unit: FloatArray = features / np.maximum(lengths, _TINY)
    return unit


def _marks(one: Candidate) -> Iterator[str]:
    yield from (f"w{word}" for word in sorted(one.words))
    yield from (f"s{signal}" for signal in sorted(one.signals))


def _place(mark: str) -> int:
    """Return the same place in every process, unlike `hash`."""
    return zlib.crc32(mark.encode("utf-8", "surrogatepass")) % _PLACES


def _log_odds(p: float) -> float:
    bounded = min(max(p, _TINY), 1 - _TINY)
    return math.log(bounded / (1 - bounded))
