"""Stores the members' scores of comments in files, and selects or joins rows."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from models.tokens import Window
from training.fit.reading import Read

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_ONE_A_COMMENT = ("network", "linear", "names", "strongest")

# For each comment, for each of its windows, one number per token.
_Promotion = Sequence[Sequence[Sequence[float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSaid:
    """The linear members' scores: one row per comment, and one number per segment."""

    said: FloatArray
    by_words: Sequence[Sequence[float]]


def linear_said_bytes(kept: LinearSaid) -> bytes:
    """Return linear members' scores as an archive of plain arrays, for `read_linear_said`."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        said=kept.said,
        by_words=np.array([number for some in kept.by_words for number in some]),
        segments=np.array([len(some) for some in kept.by_words], dtype=np.int64),
    )
    return buffer.getvalue()


def read_linear_said(content: bytes) -> LinearSaid:
    """Return the scores that `linear_said_bytes` stored."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        numbers = archive["by_words"].tolist()
        runs = _runs(archive["segments"].tolist())
        return LinearSaid(said=archive["said"], by_words=[numbers[a:b] for a, b in runs])


def read_bytes(read: Read) -> bytes:
    """Return a network's scores as an archive of plain arrays, without the windows."""
    arrays: dict[str, npt.NDArray[np.generic]] = {n: getattr(read, n) for n in _ONE_A_COMMENT}
    arrays |= _flat(read.promotion)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def read_from(content: bytes, windows: Sequence[Sequence[Window]]) -> Read:
    """Return the scores that `read_bytes` stored of comments with these windows."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    return Read(
        **{name: arrays[name] for name in _ONE_A_COMMENT},
        windows=windows,
        promotion=_nested(arrays),
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


def _flat(promotion: _Promotion) -> dict[str, npt.NDArray[np.generic]]:
    """Return nested lists as one array of numbers and two of lengths."""
    windows = [window for some in promotion for window in some]
    numbers = [number for window in windows for number in window]
    return {
        "promotion": np.array(numbers, dtype=np.float32),
        "promotion_tokens": np.array([len(window) for window in windows], dtype=np.int64),
        "promotion_windows": np.array([len(some) for some in promotion], dtype=np.int64),
    }


def _nested(arrays: Mapping[str, npt.NDArray[np.generic]]) -> _Promotion:
    """Return the nested lists of `_flat`."""
    numbers, tokens, windows = (
        arrays[f"promotion{of}"].tolist() for of in ("", "_tokens", "_windows")
    )
    of_window = [numbers[start:end] for start, end in _runs(tokens)]
    return [of_window[start:end] for start, end in _runs(windows)]


def _runs(lengths: Iterable[int]) -> Iterable[tuple[int, int]]:
    return pairwise(accumulate(lengths, initial=0))
