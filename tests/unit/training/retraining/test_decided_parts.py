"""What measures a candidate never teaches it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

from tests.factories import make_comment
from training.data.dataset import Example
from training.data.partition import Partition
from training.retraining.decided_parts import DecidedParts, Use, split_decisions
from training.trust.weights import WeighedDecision

LETTERS = "abcdefghijklmnoprstuvw"


def text(n: int) -> str:
    """Return twelve made-up words that no other number shares."""
    rng = random.Random(n)
    return " ".join("".join(rng.choices(LETTERS, k=7)) for _ in range(12))


def make_example(id_, *, is_spam=False, said=None, source="site:s", campaign=None) -> Example:
    return Example(
        comment=make_comment(said or text(int(id_[1:])), id=id_),
        is_spam=is_spam,
        source=source,
        post_key=f"{source}/{id_}",
        campaign=campaign,
    )


def make_weighed(number, *, newest=False, **changes) -> WeighedDecision:
    return WeighedDecision(
        example=make_example(f"d{number}", **changes),
        weight=1.0,
        decided_at=datetime(2026, 11, 1, tzinfo=UTC),
        newest=newest,
        sample_weight=1.0,
        is_drawn=True,
    )


def make_base(train=(), calibration=(), test=()) -> Partition:
    return Partition(train=train, calibration=calibration, test=test, dropped={})


def split(training_examples, base=None, **changes) -> DecidedParts:
    values = {
        "min_newest": 100,
        "min_to_calibrate": 400,
        "calibration_share": 0.15,
        "held_share": 1 / 3,
    }
    return split_decisions(training_examples, base or make_base(), **(values | changes))


def ids(decided: DecidedParts, use: Use) -> set[str]:
    return {one.example.comment.id for one in decided.of[use]}


def test_of_few_decisions_a_third_is_held_and_none_is_in_two_parts():
    training_examples = [make_weighed(n, is_spam=n % 2 == 0) for n in range(60)]

    decided = split(training_examples)

    assert 12 <= len(decided.of[Use.HELD]) <= 28
    assert ids(decided, Use.HELD) | ids(decided, Use.TEACH) == {f"d{n}" for n in range(60)}
    assert not ids(decided, Use.HELD) & ids(decided, Use.TEACH)
    assert decided.of[Use.NEWEST] == decided.of[Use.CALIBRATE] == ()


def test_a_held_decision_stays_held_as_more_are_made():
    few = split([make_weighed(n) for n in range(30)])
    more = split([make_weighed(n) for n in range(60)])

    assert ids(few, Use.HELD) <= ids(more, Use.HELD)


def test_copies_are_held_or_taught_together():
    copied = "the very same offer of a doubled deposit stands in every one of these comments"
    training_examples = [make_weighed(n, said=f"{copied} {n}") for n in range(20)]

    decided = split(training_examples)

    assert sorted(map(len, (decided.of[Use.HELD], decided.of[Use.TEACH]))) == [0, 20]


def test_enough_newest_decisions_are_a_part_of_their_own():
    training_examples = [make_weighed(n, is_spam=n % 2 == 0, newest=n >= 200) for n in range(320)]

    decided = split(training_examples)

    assert ids(decided, Use.NEWEST) == {f"d{n}" for n in range(200, 320)}
    assert decided.of[Use.HELD] == ()


def test_the_newest_of_one_label_measure_nothing_by_themselves():
    decided = split([make_weighed(n, newest=n >= 100) for n in range(220)])

    assert decided.of[Use.NEWEST] == ()
    assert decided.of[Use.HELD]


def test_what_copies_a_training_example_is_no_measure():
    training_examples = [make_weighed(n, is_spam=n % 2 == 0, newest=n >= 40) for n in range(160)]
    copy = make_example(
        "d99", said=training_examples[3].example.comment.text + " and more", is_spam=False
    )
    training_examples[99] = replace(training_examples[99], example=copy)

    decided = split(training_examples)

    assert decided.set_aside == {"d99": "copy of a decision that is learnt from"}
    assert "d99" not in ids(decided, Use.NEWEST)
    assert "d3" in ids(decided, Use.TEACH)


def test_many_decisions_calibrate_too():
    decided = split([make_weighed(n) for n in range(700)])

    assert 30 < len(decided.of[Use.CALIBRATE]) < 110
    assert not ids(decided, Use.CALIBRATE) & ids(decided, Use.TEACH)


def test_copies_of_held_out_base_comments_teach_nothing():
    base = make_base(
        train=(make_example("b1"),),
        calibration=(make_example("b2"),),
        test=(make_example("b3"),),
    )
    training_examples = [
        make_weighed(1, said=f"{text(1)} !"),
        make_weighed(2, said=f"{text(2)} !"),
        make_weighed(3, said=f"{text(3)} !"),
        make_weighed(4),
    ]

    decided = split(training_examples, base)

    assert decided.set_aside == {
        "d2": "copy of a calibration comment",
        "d3": "copy of a test comment",
    }


def test_a_decision_against_a_copy_that_is_trained_on_is_set_aside():
    base = make_base(train=(make_example("b1", is_spam=True),))

    decided = split([make_weighed(1, said=f"{text(1)} !"), make_weighed(2)], base)

    assert decided.set_aside == {"d1": "a copy in the base corpora has the other label"}


def test_the_very_comment_of_the_core_teaches_nothing():
    base = make_base(test=(make_example("d1", said="short", is_spam=True),))

    decided = split([make_weighed(1, said="short", is_spam=True), make_weighed(2)], base)

    assert decided.set_aside == {"d1": "copy of a test comment"}
