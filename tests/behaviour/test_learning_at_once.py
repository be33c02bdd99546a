"""A decision helps with the next comment."""

from dataclasses import replace

import pytest

from service.domain.comment import FormEvidence
from service.domain.decision import Ruling
from service.domain.verdict import WeightKind
from service.moderation.decisions import decide_comment, undo_decision
from service.scoring.residual import SITE_DECISIONS, frozen_score
from tests.databases import fresh_stores
from tests.factories import OTHER_SITE
from tests.fakes import ForgetfulHistory, make_services, make_site
from tests.unit.learning.test_learned_state import state
from tests.unit.learning.training_examples import HAM, SPAM, cache_over, decide_some, post


@pytest.fixture
def stores():
    return fresh_stores(sites=[make_site(), make_site(id=OTHER_SITE, name="Tap blog")])


@pytest.fixture
def services(stores):
    return make_services(
        stores=stores, learned=cache_over(stores).current, history=ForgetfulHistory()
    )


def residual_of(verdict) -> float:
    return sum(one.contribution for one in verdict.signals if one.signal.name == SITE_DECISIONS)


def test_the_next_comment_knows_of_every_decision_and_adds_up_to_the_last_digit(services):
    before = post(services, SPAM.format("sixty")).verdict

    decide_some(services)
    after = post(services, SPAM.format("seventy")).verdict

    assert residual_of(before) == 0.0
    assert residual_of(after) > 1.0
    total = after.base + after.model_contribution
    for one in after.signals:
        total += one.contribution
    assert after.score == total
    assert frozen_score(after) == before.score


FILLED = FormEvidence(honeypot_filled=True)


def honeypot_filled(services, **changes):
    """Return the weighed signal of a comment whose honeypot was filled."""
    signals = post(services, SPAM.format("one"), form=FILLED, **changes).verdict.signals
    [found] = [one for one in signals if one.signal.name == "honeypot_filled"]
    return found


def reject_filled(services) -> list:
    cases = [post(services, f"Remark number {n} on the valve.", form=FILLED) for n in range(8)]
    for case in cases:
        decide_comment(case.comment.id, Ruling.REJECT, services, decided_by="import")
    return cases


def test_a_set_weight_moves_with_decisions_and_back_when_they_are_undone(services):
    before = honeypot_filled(services)
    rejected = reject_filled(services)
    moved = honeypot_filled(services)
    for case in rejected:
        undo_decision(case.comment.id, services, undone_by="ada")
    back = honeypot_filled(services)

    assert (before.weight, before.kind) == (1.5, WeightKind.SET)
    assert 1.6 < moved.weight <= 3.0
    assert (moved.kind, moved.decisions) == (WeightKind.LEARNT, 8)
    assert (back.weight, back.kind) == (1.5, WeightKind.SET)


def test_a_site_that_does_not_learn_judges_by_the_weights_as_set(services, stores):
    reject_filled(services)
    stores.sites.change_settings(OTHER_SITE, lambda now: replace(now, learns=False))

    found = honeypot_filled(services, site_id=OTHER_SITE)

    assert (found.weight, found.kind) == (1.5, WeightKind.SET)


def test_only_the_newest_decisions_teach_and_older_ones_go_in_blocks(services, stores, monkeypatch):
    bounded = cache_over(stores, most=6, block=4)
    begins, read, find = [], [], stores.cases.find
    monkeypatch.setattr(stores.cases, "find", lambda ids: read.append(list(ids)) or find(ids))
    for number in range(1, 15):
        one = post(services, f"{HAM[0]} {number}")
        decide_comment(one.comment.id, Ruling.APPROVE, services, decided_by="mod")
        read.clear()

        learned = bounded.current()

        # What is known already is not read again.
        assert bounded.current() is learned
        assert read == [[one.comment.id]]
        numbers = [one.example.number for one in learned.examples]
        begins.append(numbers[0])
        assert numbers == list(range(numbers[0], number + 1))
        assert len(numbers) <= 6
        assert state(learned) == state(cache_over(stores, most=6, block=4).current())
    assert begins == [1] * 6 + [4] * 3 + [8] * 4 + [12]


def test_a_worker_that_read_nothing_for_a_while_reads_all_the_same(services, stores):
    now = [0.0]
    late = cache_over(stores, recheck_seconds=0.5, monotonic=lambda: now[0])
    late.current()
    decide_some(services)

    at_once = late.current()
    now[0] = 0.6

    assert at_once.examples == ()
    assert state(late.current()) == state(services.learned())
