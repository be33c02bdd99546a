"""Where promotion is marked."""

from __future__ import annotations

import time

import numpy as np
import pytest

from models.features import DIMENSIONS
from models.inputs import ModelInput
from models.linear import LinearTable
from models.promotion import promotion_by_words, segment_features
from models.segments import MAX_SEGMENTS, split_segments

REMARK = "I had the same trouble with the valve."
ADVERT = "Buy cheap watches now!"


def test_segments_are_the_clauses_of_a_text_without_blanks_around_them():
    text = "Nice one, thanks. See https://a.example now\n\nBye"

    pieces = [text[start:end] for start, end in split_segments(text)]

    assert pieces == ["Nice one,", "thanks.", "See", "https://a.example now", "Bye"]


@pytest.mark.parametrize("text", ["a, " * 20_000, "! " * 30_000, "\n" * 60_000, "x" * 60_000])
def test_a_hostile_text_has_a_bounded_number_of_segments(text):
    started = time.process_time()

    segments = split_segments(text)

    assert len(segments) <= MAX_SEGMENTS + 2
    assert all(0 <= start < end <= len(text) for start, end in segments)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    ("ids", "coefficient", "problem"),
    [([1], np.nan, "finite"), ([2**40], 1.0, "must lie in"), ([1, 2], 1.0, "pair up")],
)
def test_a_table_that_makes_no_sense_is_refused(ids, coefficient, problem):
    with pytest.raises(ValueError, match=problem):
        LinearTable(ids=np.array(ids), coefficients=np.array([coefficient]), intercept=0.0)


@pytest.mark.parametrize(
    "text",
    [
        f"{REMARK} {ADVERT} See https://a.example/b, or mail me: a@b.example. Call 555 123 4567!",
        "one",
        "?!\n\n- -\n\u200b\n...",
        "Très bien. 価格優惠。 Купить диплом: дёшево; \ud800 ends.",
        f"{REMARK}\n" * 40,
        "a" * 9_000 + f" {ADVERT} " * 900,
    ],
)
def test_what_words_say_of_segments_is_the_sum_over_their_vectors(text):
    rng = np.random.default_rng(1)
    table = LinearTable(
        ids=np.arange(DIMENSIONS), coefficients=rng.normal(size=DIMENSIONS), intercept=0.5
    )
    inputs = ModelInput(text=text, post_title="The valve of a kitchen tap")

    said = promotion_by_words(table, inputs)

    vectors = segment_features(inputs, split_segments(text))
    assert said == pytest.approx([table.sum_of(v) for v in vectors], abs=1e-4)
