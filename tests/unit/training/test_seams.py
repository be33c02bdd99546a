"""The weights of the seam are fitted on the very traits that serving sees."""

from __future__ import annotations

import numpy as np

from service.signals.seam import ENTER, LEAVE, SENTENCE
from service.signals.stretches import stretches_of
from tests.factories import make_comment
from training.dataset import Example
from training.seams import NAMES, fit_seams, lessons, runs_of

TEXT = "Lovely words about the lake. Buy cheap lamps at https://lamps.shop now! So calm."
AT, END = TEXT.index("Buy"), TEXT.index(" So")


def test_every_run_is_a_row_and_the_marked_one_is_right():
    runs = runs_of(stretches_of(make_comment(TEXT)), ((AT, END),), 1.0)

    assert runs.traits.shape == (6, len(NAMES))
    row = dict(zip(NAMES, runs.traits[runs.right], strict=True))
    assert (row["SENTENCE any"], row["SENTENCE link"], row["LINKED"], row["BETWEEN"]) == (1,) * 4
    assert row["ENTER after_one_sentence"] == 1
    assert row["LEAVE last_sentence"] == 1


def test_ham_has_no_right_run():
    assert runs_of(stretches_of(make_comment(TEXT)), (), 1.0).right == -1


def test_every_weight_of_serving_has_a_name_in_training():
    assert len(NAMES) == len(SENTENCE) + len(ENTER) + len(LEAVE) + 3


def test_spam_without_marks_teaches_nothing_and_public_ham_counts_half():
    def example(source, spans, *, is_spam=True):
        return Example(
            comment=make_comment(TEXT),
            is_spam=is_spam,
            source=source,
            post_key="p",
            promo_spans=spans,
        )

    taught = lessons(
        [
            example("authored-x", ((AT, END),)),
            example("authored-x", None),
            example("a-blog", ((AT, END),)),
            example("a-blog", (), is_spam=False),
        ]
    )

    assert [(runs.right >= 0, runs.weight) for runs in taught] == [(True, 1.0), (False, 0.5)]


def test_what_marked_runs_share_is_given_weight():
    spam = runs_of(stretches_of(make_comment(TEXT)), ((AT, END),), 1.0)
    ham = runs_of(stretches_of(make_comment("I was there. It rained. We left.")), (), 1.0)

    weights = fit_seams([spam, ham] * 5)

    scores = spam.traits @ np.array([weights[name] for name in NAMES])
    assert int(scores.argmax()) == spam.right
    assert scores.max() > 0
    assert (ham.traits @ np.array([weights[name] for name in NAMES])).max() < 0
