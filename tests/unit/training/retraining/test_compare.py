"""A candidate is recommended if nothing got worse and something got better."""

from __future__ import annotations

import numpy as np
import pytest

from training.retraining.compare import Part, compare

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


def test_the_same_is_no_gain():
    found = compared(CURRENT)

    assert (found.promote, found.gains, failed(found)) == (False, (), [])


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
