"""What each label teaches, and that no variation teaches anything else."""

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.comment import Author
from tests.unit.training.decided import make_example
from training.data.training_examples import (
    HARMLESS_REMARKS,
    Stock,
    TrainingExample,
    Variation,
    collect_stock,
    glued_copies,
    training_example_of,
    vary,
)

HOSTS = ["a.example", "a-much-longer-host.shop.example", "b.example"]
STOCK = Stock(hosts=HOSTS)
NEVER = Variation(**dict.fromkeys(Variation.__slots__, 0.0))
ALWAYS = dataclasses.replace(NEVER, swap_hosts=1.0, drop_name=1.0, drop_host=1.0, drop_title=1.0)
ONLY_HOSTS = dataclasses.replace(NEVER, swap_hosts=1.0)
ONLY_REMARKS = dataclasses.replace(NEVER, glue_spam=1.0, glue_ham=1.0)


def make_training_example(text: str, *promoted: str, is_spam: bool = True) -> TrainingExample:
    """Return the training example of spam of which these words were marked."""
    spans = tuple((text.index(words), text.index(words) + len(words)) for words in promoted)
    made = make_example(text=text, is_spam=is_spam, promo_spans=spans, author=Author(name="Mara"))
    return training_example_of(made)


def words(training_example: TrainingExample, spans) -> list[str]:
    return [training_example.input.text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "promotion", "plain"),
    [
        (
            "Nice. Buy watches! Bye. Buy rings!",
            ["Buy watches!", "Buy rings!"],
            ["Nice. ", " Bye. "],
        ),
        ("Buy watches!", ["Buy watches!"], []),
    ],
)
def test_marked_spam_teaches_what_promotes_and_what_does_not(text, promotion, plain):
    taught = make_training_example(text, *promotion)

    assert taught.is_spam is True
    assert words(taught, taught.promotion) == promotion
    assert words(taught, taught.plain) == plain


@pytest.mark.parametrize(
    ("text", "is_spam", "promotion", "plain"),
    [
        # Only a link is known to promote.
        ("Great. See https://shop.example/x now. Bye", True, ["https://shop.example/x now."], []),
        ("Call me for loans", True, [], []),
        ("thanks, that helped", False, [], ["thanks, that helped"]),
    ],
)
def test_unmarked_spam_teaches_its_links_and_ham_that_nothing_promotes(
    text, is_spam, promotion, plain
):
    taught = training_example_of(make_example(text=text, is_spam=is_spam))

    assert taught.is_spam is is_spam
    assert words(taught, taught.promotion) == promotion
    assert words(taught, taught.plain) == plain


def test_hosts_are_collected_once_in_lower_case_without_what_a_sentence_puts_behind():
    training_examples = [
        make_training_example("see https://www.Shop.example/x, or http://shop.example."),
        make_training_example("(https://b.example) and https://a.example!"),
    ]

    assert collect_stock(training_examples).hosts == ["a.example", "b.example", "shop.example"]


def test_the_promoted_words_stay_the_promoted_words():
    training_example = make_training_example(
        "See https://old.example/x first. Buy at https://shop.example/y today! Thanks, bye.",
        "Buy at https://shop.example/y today!",
    )

    for seed in range(20):
        varied = vary(training_example, ONLY_HOSTS, STOCK, random.Random(seed))
        (promoted,) = words(varied, varied.promotion)
        before, after = words(varied, varied.plain)

        assert promoted.startswith("Buy at https://")
        assert promoted.endswith("/y today!")
        assert before.endswith("/x first. ")
        assert after == " Thanks, bye."


@given(
    pieces=st.lists(
        st.sampled_from(["https://", "www.", "a.example", "/x ", ". ", "buy ", "://", ")"]),
        min_size=1,
        max_size=12,
    ),
    shares=st.lists(st.floats(0, 1), max_size=6).map(sorted),
    seed=st.integers(0, 99),
)
def test_spans_stay_inside_the_text_and_in_order_whatever_is_swapped(pieces, shares, seed):
    text = "".join(pieces)
    edges = [round(share * len(text)) for share in shares]
    spans = tuple(zip(edges[::2], edges[1::2], strict=False))
    example = training_example_of(make_example(text=text, is_spam=True, promo_spans=spans))

    varied = vary(example, ONLY_HOSTS, STOCK, random.Random(seed))

    offsets = [offset for span in varied.promotion for offset in span]
    assert offsets == sorted(offsets)
    assert all(0 <= offset <= len(varied.input.text) for offset in offsets)


def test_spam_and_ham_of_the_same_words_are_varied_alike():
    text = "Have a look at https://shop.example/y, see you."
    spam, ham = (
        make_training_example(text, "Have a look", is_spam=True),
        make_training_example(text, is_spam=False),
    )

    for seed in range(30):
        varied = [vary(one, Variation(), STOCK, random.Random(seed)).input for one in (spam, ham)]

        assert varied[0] == varied[1]


def test_fields_of_the_context_are_dropped_and_the_text_is_kept():
    training_example = make_training_example("No link here")

    varied = vary(training_example, ALWAYS, STOCK, random.Random(1)).input

    assert (varied.author_name, varied.author_host, varied.post_title) == ("", "", "")
    assert varied.text == "No link here"


@pytest.mark.parametrize(("variation", "stock"), [(NEVER, STOCK), (ONLY_HOSTS, Stock())])
def test_without_variation_or_hosts_to_draw_from_all_stays_as_it_is(variation, stock):
    training_example = make_training_example("Buy at https://shop.example/y today!")

    assert vary(training_example, variation, stock, random.Random(1)) == training_example


def test_remarks_are_pieces_of_ham_those_with_a_link_apart():
    sentence = "This is a sentence of forty characters. "
    linked = "Thanks. It works! See https://docs.example/x for more."
    ham = [make_training_example(text, is_spam=False) for text in (sentence * 9, "x" * 900, linked)]

    stock = collect_stock([*ham, make_training_example("Buy watches! https://shop.example")])

    assert " ".join(stock.remarks) == f"{sentence * 9}{linked}"
    assert [len(remark) for remark in stock.remarks] == [239, 119, len(linked)]
    assert stock.linked == [linked]


@pytest.mark.parametrize("is_spam", [True, False])
def test_a_remark_is_glued_to_either_end_and_teaches_that_it_promotes_nothing(is_spam):
    training_example = make_training_example(
        "Nice. Buy watches!", *["Buy watches!"] * is_spam, is_spam=is_spam
    )
    stock = Stock(remarks=["It worked."], linked=["See https://docs.example."])
    known = {"It worked.", "See https://docs.example.", *HARMLESS_REMARKS}
    texts, harmless, code = set(), set(), set()

    for seed in range(300):
        varied = vary(training_example, ONLY_REMARKS, stock, random.Random(seed))
        texts.add(" ".join(varied.input.text.split()))

        assert words(varied, varied.promotion) == ["Buy watches!"] * is_spam
        glued = {*words(varied, varied.plain)} - {"Nice. ", "Nice. Buy watches!"}
        assert len(glued) == 1
        (harmless if glued <= known else code).update(glued)
        assert varied.is_spam is is_spam

    assert texts >= {
        "It worked. Nice. Buy watches!",
        "Nice. Buy watches! It worked.",
        "See https://docs.example. Nice. Buy watches!",
        "Nice. Buy watches! See https://docs.example.",
    }
    assert len(harmless) > 60
    assert {piece[:1] for piece in code} == {"`", "<", " "}
    assert {text.startswith("```") for text in texts if "```" in text} == {True, False}


def test_comments_are_copied_with_a_remark_about_so_often_and_keep_their_labels():
    spam = [make_example(text=f"Buy watch {n}!", is_spam=True) for n in range(200)]
    examples = [*spam, make_example(text="It worked.", is_spam=False)]

    copies = glued_copies(examples, spam=1.3, ham=1.0, seed=1)

    assert 240 < len(copies) < 280
    assert copies == glued_copies(examples, spam=1.3, ham=1.0, seed=1)
    for copy in copies[:-1]:
        assert copy.is_spam
        assert "Buy watch" in copy.comment.text
        assert len(copy.comment.text) > len("Buy watch 100!")
