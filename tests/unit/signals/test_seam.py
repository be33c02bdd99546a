"""The seam between a remark and an advertisement is found where it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.inputs import ModelOutput
from service.domain.comment import Post
from service.domain.sender import History
from service.scoring.classifier import PROMOTION_SEAM, place_seam
from service.signals.detectors.seam import abrupt_shift
from service.signals.segments import segments_of
from tests.factories import make_comment, make_signal

REMARK = "The bedsheet as a screen is a lovely beginning for the club. "
QUIET = "My son has one from Lumibeam and it is great."
LOUD = "Cheap 4K projectors 50% off with free delivery, order at lumibeam-deals.shop now!"
LAST = " The wedding in the third year sounds like the best evening of all."
TITLE = Post(title="Ten years of film club")


@pytest.mark.parametrize(
    ("text", "boundaries"),
    [
        (REMARK + LOUD + LAST, (len(REMARK), len(REMARK + LOUD) + 1)),
        (LOUD + LAST, (len(LOUD) + 1,)),
    ],
)
def test_finds_an_advertisement_beside_and_between_remarks(text, boundaries):
    signal = abrupt_shift(make_comment(text, post=TITLE), History())

    assert signal is not None
    assert [text[span.start : span.end] for span in signal.spans] == [LOUD]
    assert signal.reason.startswith("between two remarks") is (len(boundaries) == 2)
    assert signal.boundaries == boundaries


@pytest.mark.parametrize(
    "disguise",
    [
        lambda text: text.replace("Buy", "B\u200bu\u00ady"),
        lambda text: "\u200b\ufeff" + text.replace("valves", "ｖａｌｖｅｓ"),
        lambda text: text.replace("o", "o\u0301\u0302"),
        lambda text: text.replace(". ", ".\n\n\u3000"),
    ],
)
def test_the_boundary_is_on_the_right_character_whatever_hides_in_the_text(disguise):
    remark = disguise("The order matters more than people think, and you explain it well. ")
    advert = disguise("Buy radiator valves 70% OFF, free delivery, order at valvehaus-deals.shop!")
    comment = make_comment(remark + advert, post=Post(title="Bleeding a radiator"))

    signal = abrupt_shift(comment, History())

    assert signal is not None
    (boundary,) = signal.boundaries
    assert comment.text[boundary:].strip("\u200b\ufeff") == advert.strip("\u200b\ufeff")


_PIECES = st.sampled_from(
    [
        "What a lovely post. ", "I'm Ana Lim, working at Floodly. ", "Thanks! ", "https://a.shop ",
        "Buy cheap valves 50% off now! ", "Call +1 555 010 9999. ", "> quoted\n", "`code` ", "\n\n",
        "\u200b", "𝐁𝐮𝐲 now ", "買う。", "کتاب‌ها. ", "…", "I tried it, but it leaks. ", "👍🏽 ",
    ]
)  # fmt: skip


@given(pieces=st.lists(_PIECES | st.text(max_size=8), max_size=14))
def test_boundaries_are_the_edges_of_whole_sentences_inside_the_text(pieces):
    comment = make_comment("".join(pieces))

    signal = abrupt_shift(comment, History())

    if signal is not None:
        starts = {segment.start for segment in segments_of(comment)}
        assert set(signal.boundaries) <= starts
        assert all(0 < boundary < len(comment.text) for boundary in signal.boundaries)
        assert signal.boundaries


def marked(text, part, p_spam=0.97):
    start = text.index(part)
    return ModelOutput(p_spam=p_spam, promo_spans=((start, start + len(part)),))


def test_a_seam_that_only_the_classifier_brings_out_is_told_apart():
    comment = make_comment(REMARK + QUIET, post=TITLE)
    link = make_signal()

    signals = place_seam(comment, (link,), marked(comment.text, QUIET))

    assert abrupt_shift(comment, History()) is None
    assert signals[0] is link
    assert signals[1].name == PROMOTION_SEAM
    assert signals[1].boundaries == (len(REMARK),)


def test_the_classifiers_marks_move_the_seam():
    comment = make_comment(REMARK + QUIET + " " + LOUD, post=TITLE)
    fired = abrupt_shift(comment, History())
    assert fired is not None

    (placed,) = place_seam(comment, (fired,), marked(comment.text, LOUD))

    assert fired.boundaries == (len(REMARK),)
    assert placed.boundaries == (comment.text.index(LOUD),)
