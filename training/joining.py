"""Fits the linear member, and how it joins the network to one calibrated probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.features import count_features
from models.linear import LinearTable
from models.transformer import Calibration
from training.dataset import Example
from training.evidence import to_matrix
from training.fuse import fit_logistic
from training.lessons import glued_copies
from training.partition import AUTHORED
from training.reading import Read, labels, marked, p_spam_of
from training.regression import fit_table


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinConfig:
    """Every knob of the joining, with its reason."""

    # Any number does; it only has to stay the same for a run to be repeated.
    seed: int = 20_260
    # The linear member; see `training.baseline` for how its knobs were found.
    inverse_ridge: float = 4.0
    min_comments: int = 2
    # N-grams that lean to one label learn with less of a ridge (`fit_table`). On the calibration
    # part beside `minilm-5`'s network before rounding: AUC of both 0.983 and 0.985, recall at 0.1 /
    # 0.5 / 1 % false positives 0.598 / 0.730 / 0.777 and 0.624 / 0.739 / 0.797; the member alone
    # 0.962 and 0.966.
    by_ratio: bool = True
    # Copies with a remark of some ham glued to them teach that its words and its link vouch for
    # nothing. On the calibration part (2,430 ham, 938 spam) a pasted reference link then lowers the
    # log-odds by 1.56, not by 2.85; ROC AUC 0.961 and 0.962, recall at 1 % false positives 0.689
    # and 0.680. Where copies stand in for as many comments, they cost more or help less.
    glued_share: float = 0.3
    # Which log-odds of promotion mark a stretch: the best of these on the calibration part.
    mark_thresholds: tuple[float, ...] = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0)


def fit_linear(examples: Sequence[Example], config: JoinConfig) -> LinearTable:
    """Return the linear member, fitted on these comments.

    Authored ones stand apart: spam is far commoner among them than among public ones.
    """
    examples = [*examples, *glued_copies(examples, config.glued_share, seed=config.seed)]
    return fit_table(
        to_matrix([count_features(e.input) for e in examples]),
        labels(examples),
        apart=np.array([e.source.startswith(AUTHORED) for e in examples], dtype=np.bool_),
        inverse_ridge=config.inverse_ridge,
        min_rows=config.min_comments,
        seed=config.seed,
        by_ratio=config.by_ratio,
    )


def calibrate(
    read: Read, examples: Sequence[Example], voice: tuple[float, float], config: JoinConfig
) -> Calibration:
    """Return how the members' log-odds make one probability, fitted on the calibration part.

    What the words say that promote most is a member of its own: in five folds of that part, beside
    `minilm-5`'s network and the linear member, recall at 0.1 / 0.5 / 1 % false positives is 0.612 /
    0.740 / 0.794 without and 0.632 / 0.747 / 0.789 with it, of the blogs among it 0.704 / 0.827 /
    0.866 and 0.799 / 0.851 / 0.877.
    """
    offset, (network, linear, promotion) = fit_logistic(
        np.column_stack([read.network, read.linear, read.strongest]), labels(examples)
    )
    joined = Calibration(
        offset=offset,
        network=network,
        linear=linear,
        promotion=promotion,
        marks_from=0.0,
        voice_slope=voice[0],
        voice_offset=voice[1],
    )
    p_spam = p_spam_of(read, joined)
    by_f1 = {t: marked(read, examples, p_spam, t).f1 for t in config.mark_thresholds}
    return replace(joined, marks_from=max(by_f1, key=lambda t: by_f1[t]))
