"""What decisions teach is bounded, exact and the same in any way of learning it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import Author
from service.learning.features import DecisionSource, TrainingExample
from service.learning.learned_state import LearnedState, learn_all
from service.learning.numbers import BOUND, CUTOFF_MARGIN, UNPROMISED_MARGIN
from service.learning.own_cutoffs import Outermost, Predicted, find_outermost
from service.learning.residual import Shared
from service.scoring.conclude import logit
from service.scoring.weights import Cutoffs
from tests.factories import SITE
from tests.unit.learning.training_examples import HAM, SALT, SPAM, at, features_of, make_example

_NEXT_SPAM = features_of(SPAM.format("seventy"))
_NEXT_HAM = features_of(HAM.format("seventy"))

HONEST = [make_example(n, is_spam=bool(n % 2)) for n in range(1, 21)]
_decisions = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.booleans(),
        st.sampled_from(["one", "two"]),
        st.sampled_from(list(DecisionSource)),
        st.floats(-8, 8),
    ),
    max_size=25,
)


def by(learned: LearnedState, features=_NEXT_SPAM, *, site=SITE, frozen=0.0) -> float:
    return learned.residual_of(site, features, frozen=frozen) or 0.0


def examples_of(drawn) -> list[TrainingExample]:
    return [
        make_example(
            number,
            (SPAM if word % 2 else HAM).format(word),
            is_spam=is_spam,
            site_id=at(site),
            source=source,
            teacher=f"{source} {site}",
            frozen=frozen,
            confident=abs(frozen) > 3,
        )
        for number, (word, is_spam, site, source, frozen) in enumerate(drawn, start=1)
    ]


def state(learned: LearnedState) -> list[bytes]:
    """Return all that is learnt as bytes: every table, belief, count and prediction."""
    shared, ledger, sites = learned.shared, learned.ledger, sorted(learned.sites.items())
    tables = [
        table for _, site in sites for table in (site.residual._weights, site.residual._squares)
    ]
    told = [
        *((name, s.evidence, s.outermost, s.predicted) for name, s in sites),
        sorted(shared._numbers.items()),
        sorted(learned.n_examples.items()),
        sorted(learned.records.items()),
        *(sorted(one.items()) for one in (ledger._taught, ledger._days, ledger._copies)),
        [one.gradient for one in learned.examples],
        sorted(learned.evidence._points.items()),
    ]
    own = [table.tobytes() for table in tables]
    return [*own, *tables_of(shared), *(repr(one).encode() for one in told)]


@settings(deadline=None, max_examples=15)
@given(drawn=_decisions, frozen=st.floats(-20, 20))
def test_what_is_added_stays_within_its_bound(drawn, frozen):
    learned = learn_all(examples_of(drawn), salt=SALT)

    for site in ("one", "two", "three"):
        assert abs(by(learned, site=at(site), frozen=frozen)) <= BOUND


def test_a_residual_that_only_hurts_goes_unused():
    rng = np.random.default_rng(7)
    examples = [
        make_example(
            n, is_spam=bool(is_spam), frozen=3.0 if is_spam else -3.0, text=HAM.format("x")
        )
        for n, is_spam in enumerate(rng.random(200) < 0.5, start=1)
    ]

    evidence = learn_all(examples, salt=SALT).sites[SITE].evidence

    assert evidence.beliefs[0] > 0.9


@pytest.mark.parametrize("contradicts", [False, True])
@pytest.mark.parametrize(
    "source", [DecisionSource.ACCOUNT, DecisionSource.SITE, DecisionSource.REPORT]
)
def test_nothing_that_anybody_but_an_owner_decides_moves_another_site(source, contradicts):
    known = [
        make_example(n, is_spam=bool(n % 2), site_id=at("two" if n % 3 else "three"))
        for n in range(1, 40)
    ]
    before = learn_all(known, salt=SALT)

    how = {"source": source, "teacher": "not the owner", "site_id": at("one")}
    how |= {"frozen": -5.0 if contradicts else 0.5, "confident": contradicts}
    poisoned = before.after(
        [make_example(100 + n, (HAM if n % 4 else SPAM).format(n), **how) for n in range(60)]
    )

    assert tables_of(poisoned.shared) == tables_of(before.shared)
    for features in (_NEXT_HAM, _NEXT_SPAM):
        for site in (at("two"), at("three"), at("new")):
            assert by(poisoned, features, site=site) == by(before, features, site=site)


def tables_of(shared: Shared) -> list[bytes]:
    """Return all that is learnt of all sites together, as bytes."""
    residual = shared._residual
    tables = (residual._weights, residual._squares, shared._first, shared._known_to_two)
    return [table.tobytes() for table in tables]


def test_a_new_site_begins_from_what_two_sisters_taught():
    sisters = [
        make_example(n, is_spam=bool(n % 2), site_id=at("two" if n % 4 < 2 else "three"))
        for n in range(1, 80)
    ]

    learned = learn_all(sisters, salt=SALT)

    assert by(learned, _NEXT_SPAM, site=at("new")) > 0.3
    assert by(learned, _NEXT_HAM, site=at("new")) < -0.3


def test_a_key_that_rejects_all_is_found_out_and_what_it_taught_goes():
    key = {"source": DecisionSource.SITE, "teacher": "key"}
    rejects_all = [
        make_example(
            100 + n, HAM.format(n), **key, frozen=-5.0 if n % 3 else 0.0, confident=bool(n % 3)
        )
        for n in range(30)
    ]
    clean = learn_all(HONEST, salt=SALT)

    poisoned = clean.after(rejects_all)

    assert by(poisoned, _NEXT_HAM) == by(clean, _NEXT_HAM)
    assert by(poisoned, _NEXT_SPAM) == by(clean, _NEXT_SPAM)


def test_a_phrase_approved_thirty_times_by_an_account_does_not_publish_spam():
    phrase = "greetings from the blue tower"
    how = {"is_spam": False, "source": DecisionSource.ACCOUNT, "teacher": "insider", "frozen": 3.0}
    approved = [make_example(100 + n, f"{SPAM.format(n)} {phrase}", **how) for n in range(30)]
    passed = features_of(f"{SPAM.format('eighty')} {phrase}")

    poisoned = learn_all([*HONEST, *approved], salt=SALT)

    assert by(poisoned, passed, frozen=3.0) + 3.0 > math.log(0.04 / 0.96)


def test_the_shape_of_a_name_says_nothing_of_what_it_spells():
    same = features_of(HAM, author=Author(name="Adam Berg"))

    assert np.array_equal(same.ids, features_of(HAM, author=Author(name="Mara Holm")).ids)


def test_what_is_said_twice_counts_once_and_a_long_text_no_more_than_a_short_one():
    features = features_of("valve valve valve stuck again " * 9)

    assert len(set(features.ids.tolist())) == len(features.ids)
    # Words together have length 1, all else 1 at most.
    assert 1.0 < features.values @ features.values <= 2.0


PROMISED = Cutoffs(ham_cutoff=0.04, spam_cutoff=0.998)


def drawn(log_odds: float, *, is_spam: bool = False, times: float = 1.0) -> Predicted:
    return Predicted(log_odds=log_odds, is_spam=is_spam, drawn=times)


def test_too_few_decisions_leave_the_versions_cutoffs():
    some = [drawn(0.0)] * 500 + [drawn(1.0, is_spam=True)] * 50

    assert find_outermost(some) == Outermost()
    assert Outermost().within(PROMISED, frozen=9.0) is PROMISED


def test_with_too_few_decisions_learning_calls_spam_only_what_lies_above_the_cutoff():
    frozen = logit(PROMISED.spam_cutoff) - 1e-6

    cutoffs = Outermost().within(PROMISED, frozen=frozen)

    assert logit(cutoffs.spam_cutoff) == pytest.approx(
        logit(PROMISED.spam_cutoff) + UNPROMISED_MARGIN
    )
    assert cutoffs.ham_cutoff == PROMISED.ham_cutoff


MANY_HAM = [drawn(-6.0, times=50.0)] * 100
SPAM_SEEN = [drawn(5.0, is_spam=True)] * 150


@pytest.mark.parametrize("frozen", [-9.0, 9.0])
@pytest.mark.parametrize(
    ("seen", "ham", "spam"),
    [
        # Many ham far below let it down by two at most.
        (MANY_HAM, logit(PROMISED.ham_cutoff), logit(PROMISED.spam_cutoff) - 2.0),
        # An audited ham that was called spam moves it above that.
        (
            [*MANY_HAM, drawn(9.0, times=50.0)],
            logit(PROMISED.ham_cutoff),
            9.0 + CUTOFF_MARGIN,
        ),
        # Missed spam lowers the ham cutoff, and nothing raises it.
        (
            [*MANY_HAM, *SPAM_SEEN, drawn(-4.5, is_spam=True, times=50.0)],
            -5.0,
            logit(PROMISED.spam_cutoff) - 2.0,
        ),
        (
            [*MANY_HAM, *SPAM_SEEN],
            logit(PROMISED.ham_cutoff),
            logit(PROMISED.spam_cutoff) - 2.0,
        ),
    ],
)
def test_enough_decisions_move_the_cutoffs_within_their_bounds(seen, ham, spam, frozen):
    cutoffs = find_outermost(seen).within(PROMISED, frozen=frozen)

    assert logit(cutoffs.ham_cutoff) == pytest.approx(ham)
    assert logit(cutoffs.spam_cutoff) == pytest.approx(spam)
