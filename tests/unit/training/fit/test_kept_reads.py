"""What was read comes back from its file as it was, and is joined and taken apart by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from training.fit.kept_reads import (
    join_reads,
    read_bytes,
    read_from,
    take_rows,
)
from training.fit.reading import Read, ReadAgain

# One comment of two windows, one without a token, one of a single window.
PROMOTION = [[[0.5, -1.25], [2.0]], [[]], [[3.0, 3.5, 4.0]]]
WINDOWS = [["a", "b"], ["c"], ["d"]]


def make_read(*, twice: bool) -> Read:
    read = Read(
        **{
            name: np.array([1.0, 2.0, 3.0]) + 10 * place
            for place, name in enumerate(("network", "linear", "names", "voice", "strongest"))
        },
        windows=WINDOWS,
        promotion=PROMOTION,
    )
    if not twice:
        return read
    again = ReadAgain(
        asked=np.array([True, False, True]),
        network=np.array([7.0, 0.0, 9.0]),
        strongest=np.array([0.1, 0.0, 0.3]),
    )
    return replace(read, second=again)


def told(read: Read) -> dict:
    """Return all that a read holds, to compare."""
    numbers = {n: getattr(read, n).tolist() for n in ("network", "linear", "names", "voice")}
    again = read.second and {
        n: getattr(read.second, n).tolist() for n in ("asked", "network", "strongest")
    }
    return numbers | {
        "strongest": read.strongest.tolist(),
        "windows": list(read.windows),
        "promotion": list(read.promotion),
        "second": again,
    }


@pytest.mark.parametrize("twice", [False, True])
def test_what_was_kept_comes_back(twice):
    read = make_read(twice=twice)

    back = read_from(read_bytes(read), WINDOWS)

    assert told(back) == told(read)


@pytest.mark.parametrize("twice", [False, True])
def test_rows_are_taken_in_the_order_asked(twice):
    taken = take_rows(make_read(twice=twice), np.array([2, 0]))

    assert taken.network.tolist() == [3.0, 1.0]
    assert taken.windows == [WINDOWS[2], WINDOWS[0]]
    assert taken.promotion == [PROMOTION[2], PROMOTION[0]]
    if twice:
        assert taken.second is not None
        assert taken.second.network.tolist() == [9.0, 7.0]


@pytest.mark.parametrize("twice", [False, True])
def test_what_is_joined_and_taken_apart_is_what_it_was(twice):
    read = make_read(twice=twice)
    parts = [take_rows(read, np.array(rows)) for rows in ([2], [0, 1])]

    joined = take_rows(join_reads(parts), np.array([1, 2, 0]))

    assert told(joined) == told(read)
