"""What was read comes back from its file as it was, and is joined and taken apart by row."""

import numpy as np

from training.fit.scores import Scores
from training.fit.stored_scores import (
    LinearScores,
    join_scores,
    linear_scores_bytes,
    read_linear_scores,
    read_scores,
    scores_bytes,
    take_rows,
)

ONE_A_COMMENT = ("network", "linear", "names", "strongest", "without_ends")
# One comment of two windows, one without a token, one of a single window.
SCORES = Scores(
    **{name: np.array([1.0, 2.0, 3.0]) + 10 * place for place, name in enumerate(ONE_A_COMMENT)},
    windows=[["a", "b"], ["c"], ["d"]],
    promotion=[[[0.5, -1.25], [2.0]], [[]], [[3.0, 3.5, 4.0]]],
    by_words=[()] * 3,
)


def columns_of(scores: Scores) -> dict:
    """Return all that a read holds, to compare."""
    return {name: np.asarray(getattr(scores, name)).tolist() for name in ONE_A_COMMENT} | {
        "windows": list(scores.windows),
        "promotion": list(scores.promotion),
        "by_words": list(scores.by_words),
    }


def test_what_was_kept_comes_back():
    assert columns_of(read_scores(scores_bytes(SCORES), SCORES.windows)) == columns_of(SCORES)


def test_what_is_joined_and_taken_apart_is_what_it_was():
    parts = [take_rows(SCORES, np.array(rows)) for rows in ([2], [0, 1])]

    joined = take_rows(join_scores(parts), np.array([1, 2, 0]))

    assert columns_of(joined) == columns_of(SCORES)


def test_what_linear_members_say_comes_back():
    scores = LinearScores(log_odds=np.array([[1.0, 2.0, 3.0]]), by_words=[[0.5, -1.0], [], [2.0]])

    back = read_linear_scores(linear_scores_bytes(scores))

    assert back.log_odds.tolist() == scores.log_odds.tolist()
    assert back.by_words == scores.by_words
