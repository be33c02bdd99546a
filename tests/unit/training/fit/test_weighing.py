"""All evidence weighed on one part, and set beside parts of it on another."""

import random
from dataclasses import replace

import numpy as np

from tests.unit.training.decided import make_example
from training.data.dataset import Example
from training.fit.evidence import signal_names, signal_strengths
from training.fit.fuse import promised_cutoffs
from training.fit.weighing import Evidence, WeighConfig, fit_weights, signals_alone, weigh

CONFIG = WeighConfig()


def example(number: int, *, is_spam: bool) -> Example:
    draw = random.Random(number)
    link = " Cheap valves: https://valves-and-more.shop/sale" if is_spam and number % 2 else ""
    words = " ".join("".join(draw.choices("abdefgiklmnoprstu", k=6)) for _ in range(9))
    return make_example(text=f"{words}.{link}", is_spam=is_spam, source=f"blog{number % 3}")


def evidence(seed: int, count: int = 300) -> Evidence:
    """Return comments on which the model is often right, never sure."""
    rng = np.random.default_rng(seed)
    examples = [example(seed * 10_000 + n, is_spam=n % 3 == 0) for n in range(count)]
    is_spam = np.array([e.is_spam for e in examples])
    log_odds = rng.normal(np.where(is_spam, 1.5, -1.5), 1.5)
    return Evidence(
        examples=examples,
        model_p_spam=1 / (1 + np.exp(-log_odds)),
        strengths=signal_strengths(examples),
        folds=np.arange(count) % 5,
    )


def test_every_detector_has_a_weight_and_the_cutoffs_are_the_promised_ones():
    calibration = evidence(1)

    outcome = weigh(calibration, CONFIG)

    assert set(outcome.fusion.signal_weights) == set(signal_names())
    assert (outcome.fusion.ham_cutoff, outcome.fusion.spam_cutoff) == promised_cutoffs(
        outcome.out_of_fold,
        calibration.is_spam,
        max_false_positive_rate=CONFIG.max_false_positive_rate,
        max_missed_spam_rate=CONFIG.max_missed_spam_rate,
    )


def test_promises_are_counted_on_what_they_are_about():
    calibration = evidence(5)
    hopeless = np.zeros(len(calibration.examples), dtype=np.bool_)
    hopeless[np.flatnonzero(calibration.is_spam)[:20]] = True
    hidden = replace(calibration, model_p_spam=np.where(hopeless, 0.0001, calibration.model_p_spam))

    with_all = weigh(hidden, CONFIG).fusion
    without = weigh(replace(hidden, is_promised=~hopeless), CONFIG).fusion

    assert without.ham_cutoff > with_all.ham_cutoff
    assert without.signal_weights == with_all.signal_weights


def test_a_fold_that_is_given_has_no_say_in_its_own_scores():
    given = replace(evidence(6), folds=np.arange(300) % 3)
    first = given.folds == 0
    swapped = [
        replace(e, is_spam=e.is_spam != f) for e, f in zip(given.examples, first, strict=True)
    ]

    before = fit_weights(given, CONFIG)[1]
    after = fit_weights(replace(given, examples=swapped), CONFIG)[1]

    assert np.array_equal(before[first], after[first])
    assert not np.array_equal(before[~first], after[~first])


def test_signals_alone_are_weighed_as_if_there_were_no_model():
    calibration = evidence(1)
    deaf = replace(calibration, model_p_spam=np.full(300, 0.5))

    alone = signals_alone(calibration, CONFIG)

    assert np.array_equal(alone, signals_alone(deaf, CONFIG))
    assert alone[calibration.is_spam].mean() > alone[~calibration.is_spam].mean()
