"""How members join, and what names say."""

from dataclasses import replace

import numpy as np
import pytest

from models.author import count_name
from models.features import count_features
from models.inputs import ModelInput
from models.promotion import promotion_by_words
from models.transformer import Calibration
from service.domain.comment import Author
from tests.unit.training.decided import make_example
from training.data.dataset import AUTHORED, UnlabelledText
from training.fit.joining import JoinConfig, calibrate, fit_linear, fit_marks, fit_names
from training.fit.scores import Scores, labels, log_odds_of
from training.fit.stored_scores import take_rows

CONFIG = JoinConfig()
# The network alone decides.
JOINED = Calibration(offset=0.0, network=1.0, linear=0.0, marks_from=0.0)
EXAMPLES = [make_example(is_spam=n % 4 == 0) for n in range(2_000)]
IS_SPAM = labels(EXAMPLES)


def make_scores() -> Scores:
    """Return members' answers: a network that is right more often than the linear member."""
    rng = np.random.default_rng(3)
    n, side = len(EXAMPLES), np.where(IS_SPAM, 1.0, -1.0)
    return Scores(
        network=rng.normal(side, 1.0),
        linear=rng.normal(side, 2.0),
        names=np.zeros(n),
        strongest=np.full(n, -7.0),
        without_ends=np.full(n, -np.inf),
        windows=[()] * n,
        promotion=[()] * n,
        by_words=[()] * n,
    )


def test_who_is_right_more_often_weighs_more_and_both_together_err_less():
    scores = make_scores()

    joined = calibrate(scores, EXAMPLES, CONFIG)

    def mean_loss(calibration):
        side = np.where(IS_SPAM, -1, 1)
        return float(np.logaddexp(0, side * log_odds_of(scores, calibration)).mean())

    assert joined.network > joined.linear > 0.0
    assert mean_loss(joined) < mean_loss(replace(joined, linear=0.0))
    assert mean_loss(joined) < mean_loss(replace(joined, network=0.0))


@pytest.mark.parametrize("member", ["names", "linear"])
def test_members_count_within_their_bounds_when_they_are_joined(member):
    bounds = {"name_bounds": (-0.5, 1.5), "linear_bounds": (-0.5, 1.5)}
    scores = replace(make_scores(), **{member: np.where(IS_SPAM, 1.5, -0.5)})
    beyond = replace(scores, **{member: np.where(IS_SPAM, 9.0, -9.0)})
    config = replace(CONFIG, **bounds)

    joined, joined_beyond = (calibrate(r, EXAMPLES, config) for r in (scores, beyond))

    assert joined_beyond == joined
    assert (getattr(joined, f"{member}_from"), getattr(joined, f"{member}_to")) == (-0.5, 1.5)
    assert (log_odds_of(beyond, joined) == log_odds_of(scores, joined)).all()


def test_an_unclear_comment_counts_as_it_reads_without_its_ends():
    calibration = replace(JOINED, reread_above=-5.0, reread_below=0.0, reread_promotion=-9.0)
    scores = replace(
        take_rows(make_scores(), np.arange(5)),
        network=np.array([-6.0, -4.0, -4.0, -4.0, 1.0]),
        without_ends=np.array([3.0, 3.0, -9.0, -np.inf, 3.0]),
    )

    assert log_odds_of(scores, calibration).tolist() == [-6.0, 3.0, -4.0, -4.0, 1.0]


def named(name: str, *, is_spam: bool):
    return make_example(is_spam=is_spam, author=Author(name=name))


def test_names_say_what_they_were_seen_with_and_nothing_on_average():
    people = ("Mara Lind", "Jo", "Ada Byron", "Tom S.")
    shops = ("Cheap Watches", "SEO Agency", "best loans", "watches24.shop")
    examples = [
        named(f"{name} {'abcdefgh'[n % 8]}", is_spam=name in shops)
        for n in range(30)
        for name in people + shops
    ]

    table = fit_names(examples, CONFIG)

    assert table is not None
    sums = np.array([table.sum_of(count_name(e.input)) for e in examples])
    spam, ham = sums[labels(examples)].mean(), sums[~labels(examples)].mean()
    assert spam > 1.0
    assert spam == pytest.approx(-ham, abs=1e-3)


def test_words_of_promotion_are_learnt_from_what_is_marked_in_authored_comments():
    advert, remark = "buy cheap watches now.", "the valve leaks again."
    text = f"{remark} {advert}"
    marked = make_example(text=text, is_spam=True, promo_spans=((len(remark) + 1, len(text)),))
    authored = replace(marked, source=f"{AUTHORED}-t1")

    table = fit_marks([authored] * 40, CONFIG)

    assert table is not None
    of_remark, of_advert = promotion_by_words(table, marked.input)
    assert of_advert > 0.0 > of_remark
    assert fit_marks([marked] * 40, CONFIG) is None


def test_words_of_woven_advertisements_speak_for_spam_and_those_around_them_do_not():
    around, advert = "You can walk the river path to the mill.", " Discover exquisite Alpina boots."
    text = around + advert
    texts = [UnlabelledText(text=text, promo_spans=((len(around), len(text)),))] * 3
    config = replace(CONFIG, draws=1)
    without, taught = (fit_linear(EXAMPLES[:120], config, some) for some in ((), texts))

    def gained(said: str) -> float:
        features = count_features(ModelInput(text=said))
        return taught.sum_of(features) - without.sum_of(features)

    assert gained("Discover exquisite boots.") > gained("Hello") + 0.1
    assert gained("We took the river path to the mill.") < gained("Discover exquisite boots.") - 0.1


def test_the_probability_is_of_the_comments_that_are_real():
    scores, odd = make_scores(), np.arange(len(EXAMPLES)) % 2 == 1
    # Of the others the linear member says the opposite of the truth.
    misled = replace(scores, linear=np.where(odd, scores.linear, -scores.linear))

    of_all = calibrate(misled, EXAMPLES, CONFIG)
    of_real = calibrate(misled, EXAMPLES, CONFIG, is_real=odd)

    assert of_real.linear > 0.2
    assert abs(of_all.linear) < of_real.linear / 2


def test_too_few_names_are_no_ground_to_say_anything():
    examples = [named("Mara", is_spam=n % 2 == 0) for n in range(60)]
    examples += [make_example(is_spam=True, author=Author()) for _ in range(200)]

    assert fit_names(examples, CONFIG) is None
