"""Fits the weights by which `service.signals.detectors.seam` finds an advertisement in a remark.

Every run of neighbouring sentences of a comment, and "none", are the classes of a softmax whose
log-odds are sums of traits; the run that was marked by hand is the right one.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from service.signals.detectors.seam import (
    ENTER,
    LEAVE,
    SENTENCE,
    Before,
    enter_traits,
    leave_traits,
    sentence_traits,
)
from service.signals.segments import Segment, segments_of
from training.arrays import FloatArray
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import AUTHORED, DEFAULT_DATA, Example, read_dataset
from training.fit.promotion import is_marked

# The limit of sentences: longer comments have too many runs, and hardly a boundary further on.
_MAX_SENTENCES = 24
# Public comments are ham without a boundary, three times as many as authored ones.
_PUBLIC_WEIGHT = 0.5
_PENALTY = 1.0

NAMES = (
    *(f"SENTENCE {name}" for name in SENTENCE),
    *(f"ENTER {name}" for name in ENTER),
    *(f"LEAVE {name}" for name in LEAVE),
    "LINKED",
    "BETWEEN",
    "WHOLE",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """All runs of a comment's sentences, a row of traits each; `right` is -1 for "none"."""

    traits: FloatArray
    right: int
    weight: float


def runs_of(segments: Sequence[Segment], spans: Sequence[tuple[int, int]], weight: float) -> Runs:
    """Return the runs of a comment whose promotion is `spans`."""
    shown = segments[:_MAX_SENTENCES]
    n = len(shown)
    sums = np.cumsum([[0.0] * len(SENTENCE), *map(sentence_traits, shown)], axis=0)
    enter, before = [(0.0,) * len(ENTER)], Before()
    for segment, following in pairwise(shown):
        before.add(segment)
        enter.append(enter_traits(following, before))
    no_leave = (0.0,) * len(LEAVE)
    rows, ends = [], []
    for first in range(n):
        for last in range(first + 1, n + 1):
            leave = leave_traits(shown[last], is_last=last == n - 1) if last < n else no_leave
            linked = any(s.links for s in shown[first:last])
            flags = (linked, first > 0 and last < n, last - first == n)
            rows.append([*(sums[last] - sums[first]), *enter[first], *leave, *flags])
            ends.append((first, last))
    marked = [i for i, s in enumerate(shown) if is_marked((s.start, s.end), spans)]
    right = ends.index((marked[0], marked[-1] + 1)) if marked else -1
    return Runs(traits=np.array(rows, dtype=np.float64), right=right, weight=weight)


def fit_seams(comments: Sequence[Runs]) -> dict[str, float]:
    """Return the weights by name; traits are scaled to unit variance before the penalty."""
    traits = np.concatenate([runs.traits for runs in comments])
    scale = traits.std(axis=0) + 1e-6
    traits = traits / scale
    sizes = np.array([len(runs.traits) for runs in comments])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.repeat(np.arange(len(comments)), sizes)
    weight = np.array([runs.weight for runs in comments])
    right = np.array([s + r.right for s, r in zip(starts, comments, strict=True) if r.right >= 0])
    right_weight = weight[owner[right]]

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        scores = traits @ theta
        highest = np.maximum(np.maximum.reduceat(scores, starts), 0.0)
        shares = np.exp(scores - highest[owner])
        total = np.exp(-highest) + np.add.reduceat(shares, starts)
        value = weight @ (highest + np.log(total)) - right_weight @ scores[right]
        pull = shares / total[owner] * weight[owner]
        gradient = traits.T @ pull - traits[right].T @ right_weight
        return value + _PENALTY * theta @ theta, gradient + 2 * _PENALTY * theta

    found = minimize(loss, np.zeros(traits.shape[1]), jac=True, method="L-BFGS-B")
    return dict(zip(NAMES, (found.x / scale).tolist(), strict=True))


def training_examples(examples: Sequence[Example]) -> list[Runs]:
    """Return the runs of authored comments with known promotion, and of public ham."""
    comments = []
    for example in examples:
        authored = example.source.startswith(AUTHORED)
        if example.promo_spans is None or (example.is_spam and not authored):
            continue
        segments = segments_of(example.comment)
        if segments:
            weight = 1.0 if authored else _PUBLIC_WEIGHT
            comments.append(runs_of(segments, example.promo_spans, weight))
    return comments


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the weights."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.seams", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[DEFAULT_DATA])
    options = parser.parse_args(arguments)
    dataset = read_dataset(options.data, corrections=LABEL_CORRECTIONS)
    comments = training_examples(dataset.examples)
    n_with = sum(runs.right >= 0 for runs in comments)
    print(
        f"n={len(comments)}, {n_with} with promotion, {sum(len(r.traits) for r in comments)} runs"
    )
    for name, value in fit_seams(comments).items():
        print(f"{name}: {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
