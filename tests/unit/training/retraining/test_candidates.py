"""Which decisions teach and by how much, and which candidate is recommended."""

from __future__ import annotations

import random
from datetime import timedelta

import numpy as np
import pytest

from service.domain.verdict import Outcome
from tests.unit.training.decided import MONDAY, make_decided
from training.data.decisions import Via
from training.retraining.clean import split_decisions
from training.retraining.compare import Part, compare


def own_words(n: int = 14) -> str:
    """Return a text that shares no word with another."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(random.choices(letters, k=9)) for _ in range(n))


def decisions(n, **values):
    """Return decisions an hour apart, so that no day holds more than one may teach."""
    return [
        make_decided(
            is_spam=bool(number % 2),
            at=MONDAY + timedelta(hours=number),
            text=own_words(),
            **values,
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


def test_an_account_that_contradicts_confident_verdicts_teaches_nothing():
    misled = decisions(20, by="mallory", p_spam=0.999, outcome=Outcome.SPAM)
    sound = decisions(20, by="ann")

    split = split_decisions([*misled, *sound, *decisions(10)], held_share=0.2)

    assert {one.decided.in_force.reviewer for one in split.taught} == {"ann"}
    assert split.left_out.total() == 20


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


def part(candidate, *, current=CURRENT, name="held decisions"):
    ids = [f"c{n}" for n in range(len(IS_SPAM))]
    return Part(name=name, ids=ids, is_spam=IS_SPAM, current=current, candidate=candidate)


def compared(held, replayed=CURRENT):
    known = part(replayed, name="known comments")
    return compare(part(held), known, ham_cutoff=0.05, spam_cutoff=0.95)


def failed(found):
    return [(check.part, check.name) for check in found.checks if not check.passed]


def test_what_is_better_on_held_decisions_and_nowhere_worse_is_recommended():
    found = compared(BETTER)

    assert (found.promote, failed(found)) == (True, [])
    assert "log-loss of 80 held decisions fell by" in found.gains[0]


@pytest.mark.parametrize("where", ["held decisions", "known comments"])
def test_one_ham_newly_called_spam_refuses(where):
    lost = BETTER.copy()
    lost[41] = 0.99

    found = compared(lost) if where == "held decisions" else compared(BETTER, lost)

    assert not found.promote
    assert (where, "no ham newly called spam") in failed(found)
    assert found.newly_lost == ("c41",)


def test_more_spam_called_ham_refuses():
    missed = BETTER.copy()
    missed[0] = 0.01

    assert ("held decisions", "no more spam called ham") in failed(compared(missed))


def test_more_ham_left_to_a_person_refuses():
    current = np.where(IS_SPAM, 0.96, 0.01)
    doubts = current.copy()
    doubts[40:42] = 0.6

    found = compare(part(doubts, current=current), part(CURRENT), ham_cutoff=0.05, spam_cutoff=0.95)

    assert ("held decisions", "no more ham left to a person") in failed(found)


def test_too_few_held_decisions_refuse():
    few = Part(
        name="held decisions",
        ids=[f"c{n}" for n in range(20)],
        is_spam=IS_SPAM[30:50],
        current=CURRENT[30:50],
        candidate=BETTER[30:50],
    )

    found = compare(few, part(CURRENT), ham_cutoff=0.05, spam_cutoff=0.95)

    assert ("held decisions", "enough to compare") in failed(found)
