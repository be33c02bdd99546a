"""Tables of coefficients, where they mark promotion, and embeddings."""

import math

import numpy as np
import pytest

from models.embedding import EMBEDDING_SIZE, Projection, projection_bytes, read_projection
from models.features import DIMENSIONS, Features
from models.inputs import ModelInput
from models.linear import LinearTable, mean_of
from models.promotion import promotion_by_words, segment_features
from models.segments import split_segments

REMARK = "I had the same trouble with the valve."
ADVERT = "Buy cheap watches now!"


def test_segments_are_the_clauses_of_a_text_without_blanks_around_them():
    text = "Nice one, thanks. See https://a.example now\n\nBye"

    pieces = [text[start:end] for start, end in split_segments(text)]

    assert pieces == ["Nice one,", "thanks.", "See", "https://a.example now", "Bye"]


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


@pytest.mark.parametrize("ids", [[], [1], [5], [9], [1, 5, 9], [7]])
def test_joined_tables_say_the_mean_or_a_share_of_what_each_says(ids):
    one = LinearTable(ids=np.array([1, 5]), coefficients=np.array([2.0, -1.0]), intercept=0.5)
    other = LinearTable(ids=np.array([5, 9]), coefficients=np.array([3.0, 4.0]), intercept=-1.5)
    features = Features(ids=np.array(ids, dtype=np.int64), values=np.ones(len(ids)))

    first, second = one.sum_of(features), other.sum_of(features)

    assert mean_of([one, other]).sum_of(features) == pytest.approx((first + second) / 2)
    assert one.plus(other, 0.5).sum_of(features) == pytest.approx(first + 0.5 * second)


@pytest.fixture
def projection() -> Projection:
    rng = np.random.default_rng(3)
    return Projection(
        mean=rng.normal(size=96).astype(np.float32),
        matrix=rng.normal(size=(96, EMBEDDING_SIZE)).astype(np.float32),
    )


@pytest.mark.parametrize("odd", [[], [[math.nan] * 96], [[math.inf] * 96]])
def test_what_has_no_direction_has_no_embedding(projection, odd):
    assert projection.embed(odd) is None


def test_a_projection_that_was_written_reads_the_same(projection):
    content = projection_bytes(projection)

    assert projection_bytes(read_projection(content)) == content


@pytest.mark.parametrize(
    ("mean", "matrix"),
    [
        (np.zeros(5, np.float32), np.zeros((6, EMBEDDING_SIZE), np.float32)),
        (np.zeros(5, np.float32), np.zeros((5, 3), np.float32)),
        (np.full(5, np.nan, np.float32), np.zeros((5, EMBEDDING_SIZE), np.float32)),
    ],
)
def test_a_projection_of_the_wrong_shape_is_refused(mean, matrix):
    with pytest.raises(ValueError, match="finite numbers of shape"):
        Projection(mean=mean, matrix=matrix)
