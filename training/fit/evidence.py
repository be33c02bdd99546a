"""Turns features and signals into matrices."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from models.features import DIMENSIONS, Features
from service.domain.comment import Comment
from service.domain.sender import History
from service.signals.detectors import DETECTORS, detect_all
from training.arrays import FloatArray
from training.data.dataset import Example


def signal_names() -> tuple[str, ...]:
    """Return the names of all detectors, in the order of the columns."""
    return tuple(detector.name for detector in DETECTORS)


def signal_strengths(examples: Sequence[Example]) -> FloatArray:
    return strengths_of([example.comment for example in examples])


def strengths_of(comments: Sequence[Comment]) -> FloatArray:
    """Return each signal's strength on each comment, 0 if its detector found nothing.

    Files hold no earlier decisions, so every sender is unknown.
    """
    column_of = {name: column for column, name in enumerate(signal_names())}
    strengths = np.zeros((len(comments), len(column_of)))
    never_seen = History()
    for row, comment in enumerate(comments):
        for signal in detect_all(comment, never_seen):
            strengths[row, column_of[signal.name]] = signal.strength
    return strengths


def to_matrix(counted: Sequence[Features]) -> sparse.csr_matrix:
    """Return sparse vectors as the rows of one matrix."""
    starts = np.concatenate([[0], np.cumsum([len(f.ids) for f in counted])])
    return sparse.csr_matrix(
        (
            np.concatenate([f.values for f in counted]),
            np.concatenate([f.ids for f in counted]),
            starts,
        ),
        shape=(len(counted), DIMENSIONS),
    )
