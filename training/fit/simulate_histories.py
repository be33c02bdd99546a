"""Simulates senders and moderators, to fit what histories weigh until real decisions accumulate.

No data tell who sent what from where, so weights of histories cannot be measured. Simulated are
campaigns as they were authored, other spam and ham of the calibration part, senders of several
habits, and moderators who decide some comments, late and with mistakes. Real are the texts, the
score that the fixed evidence gives them, and the code that remembers (`service.reputation`) and
sees (`service.signals`). The weights are only as good as the habits assumed in `SimulationConfig`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

import numpy as np
import numpy.typing as npt

from service.domain.comment import Comment
from service.domain.decision import Ruling
from service.domain.history import History
from service.reputation.ledger import Ledger
from service.scoring.conclude import logit
from service.scoring.set_weights import SET_WEIGHTS, SIMULATED
from service.signals.registry import DETECTORS
from training.data.dataset import Example
from training.fit.fuse import fit_beside
from training.fit.simulated_world import (
    Post,
    SimulationConfig,
    Told,
    World,
)

FloatArray = npt.NDArray[np.float64]

# The most that each signal of history may weigh, in log-odds: what the service lets it. Separable
# simulations would else drive weights as far as the ridge lets them.
MOST: Mapping[str, float] = {name: abs(SET_WEIGHTS[name].weight) for name in sorted(SIMULATED)}
HISTORY_SIGNALS = tuple(MOST)
_DETECTORS = tuple(d for d in DETECTORS if d.name in MOST)


@dataclass(slots=True, kw_only=True)
class Rows:
    """Simulated comments as they were judged, one a row."""

    score: list[float] = field(default_factory=list)
    strengths: list[list[float]] = field(default_factory=list)
    is_spam: list[bool] = field(default_factory=list)
    group: list[str] = field(default_factory=list)

    def extend(self, other: Rows) -> None:
        """Add the rows of another world."""
        self.score += other.score
        self.strengths += other.strengths
        self.is_spam += other.is_spam
        self.group += other.group


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCheck:
    """What becomes of one group's comments at the cutoffs, in worlds that nothing was fitted on.

    Senders and moderators of those worlds are drawn anew, by the same habits; the texts are the
    same.
    """

    group: str
    is_spam: bool
    count: int
    spam_without: int
    ham_without: int
    spam_with: int
    ham_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFit:
    """The weights from simulation, how often each signal fired there, and the check."""

    weights: Mapping[str, float]
    fired_on_spam: Mapping[str, int]
    fired_on_ham: Mapping[str, int]
    n_spam: int
    n_ham: int
    checks: tuple[GroupCheck, ...]


def fit_histories(
    told: Sequence[Told],
    campaigns: Sequence[Example],
    cutoffs: tuple[float, float],
    config: SimulationConfig,
) -> HistoryFit:
    """Return weights for the signals of history, fitted and checked on different worlds.

    `told` are comments that the model did not train on, with their scores. Of `campaigns`, which it
    may have trained on, only the texts are acted out: each gets the score of a spam among `told` of
    the same kind, as what the model says of its own training examples would make histories look
    needless. `cutoffs` are p_spam below which is ham and from which up is spam.
    """
    rng = np.random.default_rng(config.seed)
    log_cutoffs = (logit(cutoffs[0]), logit(cutoffs[1]))
    fitted, checked = Rows(), Rows()
    for world in range(config.worlds + config.checked_worlds):
        rows = _live(World(told, campaigns, config, rng, world).posts(), log_cutoffs, config, rng)
        (fitted if world < config.worlds else checked).extend(rows)
    strengths, is_spam = np.array(fitted.strengths), np.array(fitted.is_spam)
    _offset, weights = fit_beside(
        np.array(fitted.score),
        strengths,
        is_spam,
        names=HISTORY_SIGNALS,
        penalty=config.penalty,
        min_firings=config.min_firings,
        most=MOST,
    )
    return HistoryFit(
        weights=weights,
        fired_on_spam=_firings(strengths[is_spam]),
        fired_on_ham=_firings(strengths[~is_spam]),
        n_spam=int(is_spam.sum()),
        n_ham=int((~is_spam).sum()),
        checks=_check(checked, weights, log_cutoffs),
    )


def _firings(strengths: FloatArray) -> dict[str, int]:
    return dict(zip(HISTORY_SIGNALS, map(int, (strengths > 0).sum(axis=0)), strict=True))


def _check(
    rows: Rows, weights: Mapping[str, float], cutoffs: tuple[float, float]
) -> tuple[GroupCheck, ...]:
    without = np.array(rows.score)
    beside = without + np.array(rows.strengths) @ np.array([weights[n] for n in HISTORY_SIGNALS])
    group, is_spam = np.array(rows.group), np.array(rows.is_spam)
    return tuple(
        GroupCheck(
            group=name,
            is_spam=bool(is_spam[mine][0]),
            count=int(mine.sum()),
            spam_without=int((without[mine] >= cutoffs[1]).sum()),
            ham_without=int((without[mine] < cutoffs[0]).sum()),
            spam_with=int((beside[mine] >= cutoffs[1]).sum()),
            ham_with=int((beside[mine] < cutoffs[0]).sum()),
        )
        for name in sorted(set(rows.group))
        if (mine := group == name).any()
    )


def _live(
    posts: Sequence[Post],
    cutoffs: tuple[float, float],
    config: SimulationConfig,
    rng: np.random.Generator,
) -> Rows:
    """Return what is seen of each comment as it comes in, decisions being learnt in between."""
    ledger, rows, number = Ledger(), Rows(), count()
    due: list[tuple[datetime, int, Comment, Ruling]] = []
    for post in sorted(posts, key=lambda p: p.at):
        while due and due[0][0] <= post.at:
            at, _, comment, ruling = heapq.heappop(due)
            ledger.learn(comment, ruling, at=at)
        (history,) = ledger.gather([post.comment], now=post.at)
        rows.score.append(post.score)
        rows.strengths.append(_strengths(post.comment, history))
        rows.is_spam.append(post.is_spam)
        rows.group.append(post.group)
        decided = config.decided_if_held if post.score >= cutoffs[0] else config.decided_otherwise
        if rng.random() < decided:
            late = timedelta(hours=float(rng.exponential(config.decided_after_hours)))
            to_reject = post.is_spam != (rng.random() < config.mistaken_share)
            ruling = Ruling.REJECT if to_reject else Ruling.APPROVE
            heapq.heappush(due, (post.at + late, next(number), post.comment, ruling))
    return rows


def _strengths(comment: Comment, history: History) -> list[float]:
    if history == History():
        return [0.0] * len(HISTORY_SIGNALS)
    found = {d.name: d.detect(comment, history) for d in _DETECTORS}
    return [signal.strength if (signal := found[n]) else 0.0 for n in HISTORY_SIGNALS]
