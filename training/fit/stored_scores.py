"""Stores the members' scores of comments in files, and selects or joins rows."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from models.tokens import Window
from training.arrays import FloatArray, IntArray
from training.fit.scores import Scores

_ONE_A_COMMENT = ("network", "linear", "names", "strongest", "without_ends")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearScores:
    """The linear members' scores: one row per comment, and one number per segment."""

    log_odds: FloatArray
    by_words: Sequence[Sequence[float]]


def linear_scores_bytes(scores: LinearScores) -> bytes:
    """Return linear members' scores as bytes, for `read_linear_scores`."""
    return _saved(
        {"log_odds": torch.from_numpy(scores.log_odds), "by_words": [*map(list, scores.by_words)]}
    )


def read_linear_scores(content: bytes) -> LinearScores:
    """Return the scores that `linear_scores_bytes` stored."""
    stored = _loaded(content)
    return LinearScores(log_odds=stored["log_odds"].numpy(), by_words=stored["by_words"])


def scores_bytes(scores: Scores) -> bytes:
    """Return a network's scores as bytes for `read_scores`, without the windows."""
    columns = {name: torch.from_numpy(getattr(scores, name)) for name in _ONE_A_COMMENT}
    promotion = [[list(window) for window in some] for some in scores.promotion]
    return _saved(columns | {"promotion": promotion})


def read_scores(content: bytes, windows: Sequence[Sequence[Window]]) -> Scores:
    """Return the scores that `scores_bytes` stored of comments with these windows."""
    stored = _loaded(content)
    return Scores(
        **{name: stored[name].numpy() for name in _ONE_A_COMMENT},
        windows=windows,
        promotion=stored["promotion"],
        by_words=[()] * len(windows),
    )


def join_scores(parts: Sequence[Scores]) -> Scores:
    """Return the scores of several lists of comments as those of one list."""
    return Scores(
        **{n: np.concatenate([getattr(part, n) for part in parts]) for n in _ONE_A_COMMENT},
        windows=[w for part in parts for w in part.windows],
        promotion=[p for part in parts for p in part.promotion],
        by_words=[w for part in parts for w in part.by_words],
    )


def take_rows(scores: Scores, rows: IntArray) -> Scores:
    """Return the scores of the comments at these positions, in their order."""
    return Scores(
        **{n: getattr(scores, n)[rows] for n in _ONE_A_COMMENT},
        windows=[scores.windows[i] for i in rows],
        promotion=[scores.promotion[i] for i in rows],
        by_words=[scores.by_words[i] for i in rows],
    )


def _saved(values: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(values, buffer)
    return buffer.getvalue()


def _loaded(content: bytes) -> dict[str, Any]:
    values: dict[str, Any] = torch.load(io.BytesIO(content), weights_only=True)
    return values
