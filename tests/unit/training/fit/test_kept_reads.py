"""What was read comes back from its file as it was, and is joined and taken apart by row."""

import numpy as np

from training.fit.kept_reads import (
    LinearSaid,
    join_reads,
    linear_said_bytes,
    read_bytes,
    read_from,
    read_linear_said,
    take_rows,
)
from training.fit.reading import Read

ONE_A_COMMENT = ("network", "linear", "names", "strongest", "without_ends")
# One comment of two windows, one without a token, one of a single window.
READ = Read(
    **{name: np.array([1.0, 2.0, 3.0]) + 10 * place for place, name in enumerate(ONE_A_COMMENT)},
    windows=[["a", "b"], ["c"], ["d"]],
    promotion=[[[0.5, -1.25], [2.0]], [[]], [[3.0, 3.5, 4.0]]],
    by_words=[()] * 3,
)


def told(read: Read) -> dict:
    """Return all that a read holds, to compare."""
    return {name: np.asarray(getattr(read, name)).tolist() for name in ONE_A_COMMENT} | {
        "windows": list(read.windows),
        "promotion": list(read.promotion),
        "by_words": list(read.by_words),
    }


def test_what_was_kept_comes_back():
    assert told(read_from(read_bytes(READ), READ.windows)) == told(READ)


def test_what_is_joined_and_taken_apart_is_what_it_was():
    parts = [take_rows(READ, np.array(rows)) for rows in ([2], [0, 1])]

    joined = take_rows(join_reads(parts), np.array([1, 2, 0]))

    assert told(joined) == told(READ)


def test_what_linear_members_say_comes_back():
    kept = LinearSaid(said=np.array([[1.0, 2.0, 3.0]]), by_words=[[0.5, -1.0], [], [2.0]])

    back = read_linear_said(linear_said_bytes(kept))

    assert back.said.tolist() == kept.said.tolist()
    assert back.by_words == kept.by_words
