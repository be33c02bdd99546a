"""The seam is placed where style and the classifier's marks agree, and weighs no more for it."""

from __future__ import annotations

from models.inputs import ModelOutput
from service.domain.comment import Post
from service.domain.sender import History
from service.scoring.classifier import PROMOTION_SEAM, place_seam
from service.signals.detectors.seam import abrupt_shift
from tests.factories import make_comment, make_signal

REMARK = "The bedsheet as a screen is a lovely beginning for the club. "
QUIET = "My son has one from Lumibeam and it is great."
LOUD = "Cheap 4K projectors 50% off with free delivery, order at lumibeam-deals.shop now!"
TITLE = Post(title="Ten years of film club")


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


def test_a_seam_that_style_shows_keeps_its_strength():
    comment = make_comment(REMARK + LOUD, post=TITLE)
    fired = abrupt_shift(comment, History())
    assert fired is not None

    (placed,) = place_seam(comment, (fired,), marked(comment.text, LOUD))

    assert (placed.name, placed.strength) == (fired.name, fired.strength)
    assert placed.boundaries == (len(REMARK),)


def test_the_classifiers_marks_move_the_seam():
    comment = make_comment(REMARK + QUIET + " " + LOUD, post=TITLE)
    fired = abrupt_shift(comment, History())
    assert fired is not None

    (placed,) = place_seam(comment, (fired,), marked(comment.text, LOUD))

    assert fired.boundaries == (len(REMARK),)
    assert placed.boundaries == (comment.text.index(LOUD),)
