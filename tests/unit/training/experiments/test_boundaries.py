"""What is counted about boundaries: how near, how often, and whom it alarmed for nothing."""

from __future__ import annotations

from models.inputs import ModelOutput
from service.domain.comment import Post
from tests.factories import make_comment
from training.data.dataset import Example
from training.experiments.boundaries import (
    INNOCENT,
    WAYS,
    Found,
    Measured,
    answers,
    of_part,
    tables,
)

REMARK = "The order matters more than people think. You explain it well. "
ADVERT = "Buy radiator valves 70% OFF, free delivery, order at valvehaus-deals.shop hurry!"
COMMENT = make_comment(REMARK + ADVERT, post=Post(title="Bleeding a radiator"))


def example(**changes):
    values = {"comment": COMMENT, "is_spam": True, "source": "authored-x", "post_key": "p"}
    return Example(**(values | changes))


def test_every_way_tells_its_first_boundary_inside_the_text():
    output = ModelOutput(p_spam=0.98, promo_spans=((len(REMARK), len(COMMENT.text)),))

    found = answers(COMMENT, output)

    assert tuple(found) == WAYS
    assert list(found.values()) == [len(REMARK)] * 4 + [None]


def test_marks_over_the_whole_text_are_no_boundary():
    found = answers(COMMENT, ModelOutput(p_spam=0.98, promo_spans=((0, len(COMMENT.text)),)))

    assert found["classifier"] is None


def test_nearness_is_counted_in_sentences_and_words():
    tally = Found()

    tally.add(COMMENT, len(REMARK) - 1, len(REMARK))
    tally.add(COMMENT, COMMENT.text.index("You"), len(REMARK))
    tally.add(COMMENT, 0, len(REMARK))
    tally.add(COMMENT, None, len(REMARK))

    assert (tally.n, tally.found, tally.within_one_sentence, tally.exact) == (4, 3, 2, 1)
    assert tally.words_off == 0 + 4 + 11


def test_a_part_gives_its_ham_and_the_spam_whose_boundary_is_known():
    examples = [
        example(boundary=5),
        example(boundary=None),
        example(is_spam=False),
        example(is_spam=False, source="a-blog"),
    ]

    groups = [(group, boundary) for _, group, boundary in of_part(examples)]

    assert groups == [("authored spam", 5), ("authored ham", None), ("public ham", None)]


def test_the_tables_count_false_alarms_with_their_interval():
    quoting = make_comment("> So what?\n\nNothing.")
    none = dict.fromkeys(WAYS)
    measured = [
        Measured(comment=quoting, group="public ham", boundary=None, found=none),
        Measured(comment=COMMENT, group="public ham", boundary=None, found={**none, "both": 9}),
        Measured(comment=COMMENT, group="public spam", boundary=9, found={**none, "both": 9}),
    ]

    text = tables(measured, "test part")

    assert "| public spam | 1 | both | 1 (100.0%) | 1 (100.0%) | 1 (100.0%) | 0.0 |" in text
    assert "| all | 2 | both | 1 | 50.00% | 9.45% to 90.55% |" in text
    assert "| with a quotation | 1 | both | 0 |" in text


def test_innocent_changes_of_style_are_recognised():
    texts = {
        "quotation": "> so\nno",
        "correction": "Yes.\nEDIT: no.",
        "code": "Use `ls`.",
        "signature": "It works.\n\nCheers,\nJan",
        "second script": "Hello there, привет всем",
        "recipe": "Take 200 g of sugar",
    }

    assert {name for name in INNOCENT if INNOCENT[name].search(texts[name])} == set(INNOCENT)
    assert not any(pattern.search("It works. I like it!") for pattern in INNOCENT.values())
