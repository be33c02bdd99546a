"""A careful person as a model: what they overlook, wrongly hold back, and how long they take."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

# Wolfe, Horowitz and Kenner, Nature 435 (2005), 439: of targets that half of the pictures hold,
# searchers overlook 7 %; of those that a tenth holds 11 %; of those that a hundredth holds 30 %.
_OVERLOOKED = ((0.01, 0.30), (0.10, 0.11), (0.50, 0.07))
# Assumed: nobody measured screens of comments. From the twentieth row on attention fades a little
# with each; ordinary comments are taken for targets now and then.
_FRESH_ROWS = 20
_FADES_BY = 0.004
_MOST_OVERLOOKED = 0.6
_FALSE_ALARMS = 0.01
# Brysbaert, Journal of Memory and Language 109 (2019): 238 words a minute. Assumed: scanning is
# twice as fast, and each screen or single comment costs a moment to begin and to press a key.
_WORDS_A_SECOND = 238 / 60
_SCANS_FASTER = 2.0
_SECONDS_TO_BEGIN = 1.0
_EVEN = 0.5


@dataclass(slots=True, kw_only=True)
class CarefulPerson:
    """Sees labels as a person would who errs at these rates, and counts their seconds."""

    draw: random.Random
    seconds: float = 0.0
    _targets: list[bool] = field(default_factory=list)

    def scan(self, rows: Sequence[tuple[str, bool]]) -> list[bool]:
        """Return which rows are ticked as exceptions; each is its words and whether it is one."""
        self.seconds += _SECONDS_TO_BEGIN
        ticked = []
        for number, (words, is_target) in enumerate(rows):
            self.seconds += len(words.split()) / _WORDS_A_SECOND / _SCANS_FASTER
            ticked.append(
                self._sees(is_target=is_target, faded=max(0, number - _FRESH_ROWS) * _FADES_BY)
            )
        # A person expects what the screens before held.
        self._targets = [*self._targets, *(is_target for _, is_target in rows)][-200:]
        return ticked

    def look(self, words: str, *, is_spam: bool, share: float = 0.5) -> bool:
        """Return whether a comment that is opened alone is taken for spam; `share` of them are."""
        self.seconds += _SECONDS_TO_BEGIN + len(words.split()) / _WORDS_A_SECOND
        # What is the rarer of the two is overlooked, the other now and then taken for it.
        rate = overlooked(share if is_spam else 1.0 - share)
        errs = self.draw.random() < (rate if is_spam or share > _EVEN else _FALSE_ALARMS)
        return is_spam is not errs

    def _sees(self, *, is_target: bool, faded: float) -> bool:
        if not is_target:
            return self.draw.random() < _FALSE_ALARMS
        share = (sum(self._targets) + 1) / (len(self._targets) + 20)
        return self.draw.random() >= min(_MOST_OVERLOOKED, overlooked(share) + faded)


def overlooked(share: float) -> float:
    """Return the share of targets that is overlooked where this share of what is seen are some."""
    at = math.log(min(max(share, _OVERLOOKED[0][0]), _OVERLOOKED[-1][0]))
    for (low, most), (high, least) in pairwise(_OVERLOOKED):
        if at <= math.log(high):
            part = (at - math.log(low)) / (math.log(high) - math.log(low))
            return most + part * (least - most)
    return _OVERLOOKED[-1][1]
