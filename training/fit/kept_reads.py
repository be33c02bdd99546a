"""Stores the members' scores of comments in files, and selects or joins rows."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from models.tokens import Window
from training.arrays import FloatArray, IntArray
from training.fit.reading import Read

_ONE_A_COMMENT = ("network", "linear", "names", "strongest", "without_ends")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSaid:
    """The linear members' scores: one row per comment, and one number per segment."""

    said: FloatArray
    by_words: Sequence[Sequence[float]]


def linear_said_bytes(kept: LinearSaid) -> bytes:
    """Return linear members' scores as bytes, for `read_linear_said`."""
    return _saved({"said": torch.from_numpy(kept.said), "by_words": [*map(list, kept.by_words)]})


def read_linear_said(content: bytes) -> LinearSaid:
    """Return the scores that `linear_said_bytes` stored."""
    kept = _loaded(content)
    return LinearSaid(said=kept["said"].numpy(), by_words=kept["by_words"])


def read_bytes(read: Read) -> bytes:
    """Return a network's scores as bytes for `read_from`, without the windows."""
    columns = {name: torch.from_numpy(getattr(read, name)) for name in _ONE_A_COMMENT}
    promotion = [[list(window) for window in some] for some in read.promotion]
    return _saved(columns | {"promotion": promotion})


def read_from(content: bytes, windows: Sequence[Sequence[Window]]) -> Read:
    """Return the scores that `read_bytes` stored of comments with these windows."""
    kept = _loaded(content)
    return Read(
        **{name: kept[name].numpy() for name in _ONE_A_COMMENT},
        windows=windows,
        promotion=kept["promotion"],
        by_words=[()] * len(windows),
    )


def join_reads(reads: Sequence[Read]) -> Read:
    """Return the scores of several lists of comments as those of one list."""
    return Read(
        **{n: np.concatenate([getattr(read, n) for read in reads]) for n in _ONE_A_COMMENT},
        windows=[w for read in reads for w in read.windows],
        promotion=[p for read in reads for p in read.promotion],
        by_words=[w for read in reads for w in read.by_words],
    )


def take_rows(read: Read, rows: IntArray) -> Read:
    """Return the scores of the comments at these positions, in their order."""
    return Read(
        **{n: getattr(read, n)[rows] for n in _ONE_A_COMMENT},
        windows=[read.windows[i] for i in rows],
        promotion=[read.promotion[i] for i in rows],
        by_words=[read.by_words[i] for i in rows],
    )


def _saved(values: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(values, buffer)
    return buffer.getvalue()


def _loaded(content: bytes) -> dict[str, Any]:
    values: dict[str, Any] = torch.load(io.BytesIO(content), weights_only=True)
    return values
