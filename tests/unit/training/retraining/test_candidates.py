"""Which decisions teach and by how much, and which candidate is recommended."""

import random
from datetime import timedelta

import numpy as np
import pytest

from tests.unit.training.decided import MONDAY, make_decided
from training.data.decisions import Via
from training.retraining.clean import split_decisions
from training.retraining.compare import Part, compare


def own_words(n: int = 14) -> str:
    """Return a text that shares no word with another."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(random.choices(letters, k=9)) for _ in range(n))


def decisions(n):
    """Return decisions an hour apart, so that no day holds more than one may teach."""
    return [
        make_decided(
            is_spam=bool(number % 2), at=MONDAY + timedelta(hours=number), text=own_words()
        )
        for number in range(n)
    ]


def test_the_newest_decisions_are_held_and_the_others_teach():
    some = decisions(100)

    split = split_decisions(some, held_share=0.3)

    assert split.held == some[70:]
    assert [one.decided for one in split.taught] == some[:70]
    assert {one.weight for one in split.taught} == {1.0}


def test_a_near_copy_of_a_held_comment_teaches_nothing():
    text = own_words(80)
    some = [*decisions(6), make_decided(is_spam=True, text=text), *decisions(2)]
    held = make_decided(is_spam=True, text=f"{text} indeed")

    split = split_decisions([*some, held], held_share=0.1)

    assert some[6] not in [one.decided for one in split.taught]
    assert sum(split.left_out.values()) == 1


def test_readers_reports_bound_by_the_rules_of_learning_at_once_teach_few():
    reports = [
        make_decided(is_spam=True, by="site", via=Via.REPORT, at=MONDAY, text=own_words())
        for _ in range(100)
    ]

    split = split_decisions([*reports, *decisions(40)], held_share=0.25)

    assert len([one for one in split.taught if one.decided.in_force.via is Via.REPORT]) == 30


# 40 spam and 40 ham, of which the current version leaves half to a person.
IS_SPAM = np.repeat([True, False], 40)
CURRENT = np.where(IS_SPAM, 0.9, 0.1)
CURRENT[::2] = 0.5
BETTER = np.where(IS_SPAM, 0.97, 0.02)


def part(candidate, *, rows=slice(None), current=CURRENT, name="held decisions"):
    ids = [f"c{n}" for n in range(len(IS_SPAM))]
    return Part(
        name=name,
        ids=ids[rows],
        is_spam=IS_SPAM[rows],
        current=current[rows],
        candidate=candidate[rows],
    )


def compared(held, known=CURRENT):
    """Return the comparison, and which checks failed."""
    held = held if isinstance(held, Part) else part(held)
    known = part(known, name="known comments")
    found = compare(held, known, ham_cutoff=0.05, spam_cutoff=0.95)
    return found, [(check.part, check.name) for check in found.checks if not check.passed]


def with_score(p_spam, *places, of=BETTER):
    changed = of.copy()
    changed[list(places)] = p_spam
    return changed


def test_what_is_better_on_held_decisions_and_nowhere_worse_is_recommended():
    found, failed = compared(BETTER)

    assert (found.promote, failed) == (True, [])
    assert "log-loss of 80 held decisions fell by" in found.gains[0]


SURE = np.where(IS_SPAM, 0.96, 0.01)


@pytest.mark.parametrize(
    ("held", "known", "newly_lost", "check"),
    [
        (with_score(0.99, 41), CURRENT, ("c41",), ("held decisions", "no ham newly called spam")),
        (BETTER, with_score(0.99, 41), ("c41",), ("known comments", "no ham newly called spam")),
        (with_score(0.01, 0), CURRENT, (), ("held decisions", "no more spam called ham")),
        (
            part(with_score(0.6, 40, 41, of=SURE), current=SURE),
            CURRENT,
            (),
            ("held decisions", "no more ham left to a person"),
        ),
        (part(BETTER, rows=slice(30, 50)), CURRENT, (), ("held decisions", "enough to compare")),
    ],
    ids=["ham lost", "known ham lost", "spam missed", "ham left to a person", "too few"],
)
def test_what_is_worse_anywhere_or_on_too_few_is_refused(held, known, newly_lost, check):
    found, failed = compared(held, known)

    assert not found.promote
    assert failed == [check]
    assert found.newly_lost == newly_lost
