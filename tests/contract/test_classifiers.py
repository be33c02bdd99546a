"""The shipped classifier keeps the promises of the port."""

import dataclasses
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.inputs import ModelInput
from models.registry import SHIPPED_DIR, load_version, read_current_name

SHIPPED_FOLDER = SHIPPED_DIR / read_current_name()
SHIPPED = load_version(SHIPPED_FOLDER).classifier

SPAM = ModelInput(
    text="Great article, thanks! Buy cheap watches at https://watches-deal.example/shop 50% off",
    post_title="Bleeding a radiator",
    author_name="Cheap Watches",
    author_host="watches-deal.example",
)
HAM = ModelInput(
    text="Did not work for me, the valve is behind the boiler. Which spanner did you use?",
    post_title="Bleeding a radiator",
    author_name="Mara",
)
ODD = [
    ModelInput(text=""),
    ModelInput(text=" \n\t"),
    ModelInput(text="\0"),
    ModelInput(text="\ud800 lone surrogate \udfff"),
    ModelInput(text="👍"),
    ModelInput(text="a" * 65_536),
    ModelInput(text="x. " * 20_000, author_name="n" * 300, author_host="h" * 2_000),
    ModelInput(text="\u0301" * 30_000),
    ModelInput(text="&#" + "1" * 60_000 + ";"),
    ModelInput(text="ok", post_title="\ud800" * 500, post_excerpt="y " * 2_000),
]


def test_an_answer_never_depends_on_the_rest_of_the_batch():
    batch = [SPAM, *ODD, HAM, *(dataclasses.replace(HAM, text=f"no. {n}") for n in range(20))]
    shuffled = random.Random(7).sample(range(len(batch)), len(batch))

    in_order = SHIPPED.score_batch(batch)
    out_of_order = SHIPPED.score_batch([batch[i] for i in shuffled])

    assert out_of_order == [in_order[i] for i in shuffled]


def test_a_version_that_is_loaded_again_answers_the_same_whatever_it_was_asked_before():
    batch = [SPAM, *ODD, HAM]
    again = load_version(SHIPPED_FOLDER).classifier

    one_by_one = [again.score_batch([one])[0] for one in reversed(batch)]

    assert one_by_one == SHIPPED.score_batch(batch)[::-1]


@settings(max_examples=30, deadline=None)
@given(
    inputs=st.builds(
        ModelInput,
        text=st.text(st.characters(codec=None), max_size=300),
        post_title=st.text(max_size=40),
        post_excerpt=st.text(max_size=40),
        author_name=st.text(max_size=20),
        author_host=st.text(max_size=20),
    )
)
def test_spans_lie_inside_the_text_in_order(inputs):
    (answer,) = SHIPPED.score_batch([inputs])

    offsets = [offset for span in answer.promo_spans for offset in span]

    assert offsets == sorted(offsets)
    assert all(start < end for start, end in answer.promo_spans)
    assert all(0 <= offset <= len(inputs.text) for offset in offsets)


def test_threads_may_share_a_classifier():
    expected = SHIPPED.score_batch([SPAM, HAM])

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(SHIPPED.score_batch, [[SPAM, HAM]] * 8))

    assert answers == [expected] * 8


def test_the_shipped_version_tells_spam_from_ham_and_marks_the_advertisement():
    remark = "Great article, thanks!"

    spam, ham = SHIPPED.score_batch([SPAM, HAM])

    assert spam.p_spam > 0.5
    assert ham.p_spam < 0.2
    assert spam.promo_spans[-1][1] == len(SPAM.text)
    assert spam.promo_spans[0][0] >= len(remark)


def test_every_comment_has_a_probability_and_an_embedding_of_unit_length_or_none():
    for answer in SHIPPED.score_batch([SPAM, HAM, *ODD]):
        assert 0.0 <= answer.p_spam <= 1.0
        if answer.embedding is not None:
            assert len(answer.embedding) == 64
            assert sum(n * n for n in answer.embedding) == pytest.approx(1.0)
