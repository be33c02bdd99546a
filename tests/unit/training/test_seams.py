"""The weights of the seam are fitted on the very traits that serving sees."""

import math

import numpy as np
import pytest

from service.signals.detectors.seam import BETWEEN, ENTER, LEAVE, LINKED, SENTENCE, WHOLE, find_seam
from service.signals.segments import segments_of
from tests.factories import make_comment
from tests.unit.training.decided import make_example
from training.seams import NAMES, fit_seams, runs_of, training_examples

TEXT = "Lovely words about the lake. Buy cheap lamps at https://lamps.shop now! So calm."
AT, END = TEXT.index("Buy"), TEXT.index(" So")


def test_every_run_is_a_row_and_the_marked_one_is_right():
    runs = runs_of(segments_of(make_comment(TEXT)), ((AT, END),), 1.0)

    assert runs.traits.shape == (6, len(NAMES))
    row = dict(zip(NAMES, runs.traits[runs.right], strict=True))
    assert (row["SENTENCE any"], row["SENTENCE link"], row["LINKED"], row["BETWEEN"]) == (1,) * 4
    assert row["ENTER after_one_sentence"] == 1
    assert row["LEAVE last_sentence"] == 1


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "Cheap lamps at https://lamps.shop, order now! What a calm lake.\nI was there in May.",
        "Did it rain? The lake froze in 2019. Perhaps. Our team sells lamps: https://lamps.shop",
        "I was there. It rained — a lot. We left, and you?",
    ],
)
def test_serving_finds_the_best_run_of_training_with_the_same_log_odds(text):
    tables = (SENTENCE, ENTER, LEAVE)
    weights = [weight for table in tables for weight, _ in table.values()]
    segments = segments_of(make_comment(text))
    traits = runs_of(segments, (), 1.0).traits
    scores = traits @ np.array([*weights, LINKED, BETWEEN, WHOLE])
    is_whole = traits[:, NAMES.index("WHOLE")] == 1

    found = find_seam(segments)

    against = math.log(1 + math.exp(scores[is_whole].item()))
    assert found is not None
    assert found.log_odds == pytest.approx(scores[~is_whole].max() - against)


@pytest.mark.parametrize(
    ("source", "spans", "is_spam", "taught"),
    [
        ("authored-x", ((AT, END),), True, [(True, 1.0)]),
        ("authored-x", None, True, []),
        ("a-blog", ((AT, END),), True, []),
        ("a-blog", (), False, [(False, 0.5)]),
    ],
)
def test_spam_without_marks_teaches_nothing_and_public_ham_counts_half(
    source, spans, is_spam, taught
):
    example = make_example(text=TEXT, is_spam=is_spam, source=source, promo_spans=spans)

    assert [(runs.right >= 0, runs.weight) for runs in training_examples([example])] == taught


def test_what_marked_runs_share_is_given_weight():
    spam = runs_of(segments_of(make_comment(TEXT)), ((AT, END),), 1.0)
    ham = runs_of(segments_of(make_comment("I was there. It rained. We left.")), (), 1.0)

    weights = fit_seams([spam, ham] * 5)

    scores = spam.traits @ np.array([weights[name] for name in NAMES])
    assert int(scores.argmax()) == spam.right
    assert scores.max() > 0
    assert (ham.traits @ np.array([weights[name] for name in NAMES])).max() < 0
