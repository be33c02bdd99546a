"""Which decisions teach, by how much, and which are held to compare versions by."""

from __future__ import annotations

import random
from datetime import timedelta

from service.domain.verdict import Outcome
from tests.unit.training.decided import MONDAY, make_decided
from training.data.decisions import Via
from training.retraining.clean import split_decisions


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
