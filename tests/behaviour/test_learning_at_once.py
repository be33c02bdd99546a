"""A decision helps with the next comment of its site, everywhere, and can be taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import Author, FormEvidence, Lane, SiteId
from service.domain.decision import Ruling
from service.domain.person import Person
from service.domain.verdict import Outcome, WeightKind
from service.learning.taught import Taught
from service.moderation.intake.submit import submit_comments
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.judging.judge import judge_batch
from service.moderation.privacy.erase import erase_person
from service.moderation.review.decide import decide_comment, undo_decision
from service.ports.comments import NewComment
from service.scoring.lean import SITE_DECISIONS, frozen_score
from service.stores.taught import TaughtKeeper
from tests.databases import databases_given_back, fresh_stores
from tests.factories import SITE, make_comment
from tests.fakes import FixedClassifier, ForgetfulHistory, make_services, make_site
from tests.unit.learning.test_taught import state
from tests.unit.learning.training_examples import HAM, SPAM

OTHER = SiteId("site-2")


@pytest.fixture
def stores():
    return fresh_stores(sites=[make_site(), make_site(id=OTHER, name="Tap blog")])


@pytest.fixture
def services(stores):
    return make_services(stores=stores, taught=keeper(stores).current, history=ForgetfulHistory())


def keeper(stores, **bounds: int) -> TaughtKeeper:
    return TaughtKeeper(
        stores.decisions,
        stores.cases,
        stores.sites,
        stores.users,
        audit_share=0.02,
        salt=7,
        recheck_seconds=0,
        **bounds,
    )


def post(services, text: str, **changes):
    comment = make_comment(text, **changes)
    submit_comments(
        [NewComment(comment=comment, lane=Lane.INTERACTIVE)], services.intake, services.common
    )
    return services.review.cases.get(comment.id)


def decide_some(services, count: int = 12, *, by: str = "ada") -> list:
    made = []
    for n in range(count):
        case = post(services, (SPAM if n % 2 else HAM).format(n))
        ruling = Ruling.REJECT if n % 2 else Ruling.APPROVE
        made.append(decide_comment(case.comment.id, ruling, services, decided_by=by))
    return made


def lean_of(verdict) -> float:
    return sum(one.contribution for one in verdict.signals if one.signal.name == SITE_DECISIONS)


def test_the_next_comment_knows_of_every_decision_and_adds_up_to_the_last_digit(services):
    before = post(services, SPAM.format("sixty")).verdict

    decide_some(services)
    after = post(services, SPAM.format("seventy")).verdict

    assert lean_of(before) == 0.0
    assert lean_of(after) > 1.0
    total = after.base + after.model_contribution
    for one in after.signals:
        total += one.contribution
    assert after.score == total
    assert frozen_score(after) == before.score


def honeypot_of(case):
    [found] = [one for one in case.verdict.signals if one.signal.name == "honeypot_filled"]
    return found


def test_a_set_weight_moves_with_decisions_and_back_when_they_are_undone(services):
    filled = {"form": FormEvidence(honeypot_filled=True)}
    before = honeypot_of(post(services, SPAM.format("one"), **filled))
    rejected = [post(services, f"Remark number {n} on the valve.", **filled) for n in range(8)]
    for case in rejected:
        decide_comment(case.comment.id, Ruling.REJECT, services, decided_by="import")

    moved = honeypot_of(post(services, SPAM.format("two"), **filled))
    for case in rejected:
        undo_decision(case.comment.id, services, undone_by="ada")
    back = honeypot_of(post(services, SPAM.format("three"), **filled))

    assert (before.weight, before.kind) == (1.5, WeightKind.SET)
    assert 1.6 < moved.weight <= 3.0
    assert (moved.kind, moved.decisions) == (WeightKind.LEARNT, 8)
    assert (back.weight, back.kind) == (1.5, WeightKind.SET)


def test_a_site_that_does_not_learn_judges_by_the_weights_as_set(services, stores):
    filled = {"form": FormEvidence(honeypot_filled=True)}
    for n in range(8):
        case = post(services, f"Remark number {n} on the valve.", **filled)
        decide_comment(case.comment.id, Ruling.REJECT, services, decided_by="import")
    stores.sites.change_settings(OTHER, lambda now: replace(now, learns=False))

    found = honeypot_of(post(services, SPAM.format("one"), site_id=OTHER, **filled))

    assert (found.weight, found.kind) == (1.5, WeightKind.SET)


def test_another_worker_knows_the_same_to_the_last_bit(services, stores):
    decide_some(services)

    assert state(keeper(stores).current()) == state(services.learning.taught())


@pytest.mark.parametrize("undo", ["undo", "withdraw"])
def test_what_is_taken_back_leaves_the_state_as_if_it_had_never_been(services, stores, undo):
    decide_some(services)
    before = state(services.learning.taught())
    later = decide_some(services, 4)

    assert state(services.learning.taught()) != before
    for case in later:
        if undo == "undo":
            undo_decision(case.comment.id, services, undone_by="ada")
        else:
            withdraw_comment(case.comment.id, services, by="ada")

    assert state(services.learning.taught()) == before
    assert state(keeper(stores).current()) == before


def test_erasing_a_person_leaves_no_trace_of_their_words_in_the_state(services, stores):
    decide_some(services)
    before = state(services.learning.taught())
    case = post(services, SPAM.format("of Zed"), author=Author(name="Zed Wolkow"))
    decide_comment(case.comment.id, Ruling.REJECT, services, decided_by="ada")

    erase_person(Person(sender=case.comment.sender, author_name="Zed Wolkow"), services, by="ada")

    assert state(services.learning.taught()) == before
    assert all(
        one.example.comment_id != case.comment.id for one in services.learning.taught().learnt
    )


def test_a_ruling_made_anew_teaches_once(services):
    decide_some(services)
    case = post(services, SPAM.format("sixty"))

    decide_comment(case.comment.id, Ruling.APPROVE, services, decided_by="ada")
    decide_comment(case.comment.id, Ruling.REJECT, services, decided_by="ada")

    of_this = [
        one
        for one in services.learning.taught().learnt
        if one.example.comment_id == case.comment.id
    ]
    assert [one.example.is_spam for one in of_this] == [True]


def test_a_comment_decided_before_it_was_judged_teaches_once_it_is(stores):
    services = make_services(stores=stores, taught=keeper(stores).current, judges=False)
    comment = make_comment(SPAM.format("sixty"))
    submit_comments([NewComment(comment=comment, lane=Lane.BULK)], services.intake, services.common)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="import")

    unjudged = services.learning.taught()
    judge_batch([comment.id], services)
    judged = keeper(stores).current()

    assert unjudged.learnt == ()
    assert [one.example.comment_id for one in judged.learnt] == [comment.id]


def test_a_site_that_switched_learning_off_is_judged_by_the_version_alone(services, stores):
    decide_some(services)
    stores.sites.change_settings(SITE, lambda now: replace(now, learns=False))
    services.common.audit_log.append(_an_act(services))

    verdict = post(services, SPAM.format("seventy")).verdict

    assert lean_of(verdict) == 0.0


def test_what_a_site_forgot_teaches_nothing_and_what_it_decides_then_does(services, stores):
    decide_some(services)
    services.common.clock.advance(days=1)
    since = services.common.clock()
    stores.sites.change_settings(SITE, lambda now: replace(now, learns_since=since))
    services.common.audit_log.append(_an_act(services))

    after_forgetting = services.learning.taught()
    services.common.clock.advance(days=1)
    decide_some(services, 2)

    assert state(after_forgetting) == state(Taught(salt=7))
    assert len(services.learning.taught().learnt) == 2


def _an_act(services):
    from service.ports.audit import AuditEntry

    return AuditEntry(at=services.common.clock(), actor="ada", act="site settings", subject=SITE)


def test_no_decision_of_a_newcomer_moves_another_site(services):
    decide_some(services, 12)
    before = post(services, SPAM.format("other"), site_id=OTHER).verdict

    for n in range(20):
        case = post(services, SPAM.format(n), author=Author(name=f"R {n}"))
        decide_comment(case.comment.id, Ruling.APPROVE, services, decided_by="newcomer")

    assert post(services, SPAM.format("other"), site_id=OTHER).verdict.score == before.score


@settings(deadline=None, max_examples=8)
@given(acts=st.lists(st.tuples(st.integers(0, 5), st.sampled_from("aru")), max_size=12))
@databases_given_back()
def test_whatever_is_decided_and_taken_back_in_whatever_order_a_new_worker_agrees(acts):
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, taught=keeper(stores).current)
    cases = [post(services, (SPAM if n % 2 else HAM).format(n)) for n in range(6)]

    for which, act in acts:
        comment_id = cases[which].comment.id
        if act == "u":
            if services.review.cases.get(comment_id).decision is not None:
                undo_decision(comment_id, services, undone_by="ada")
        else:
            ruling = Ruling.APPROVE if act == "a" else Ruling.REJECT
            decide_comment(comment_id, ruling, services, decided_by="ada")
        services.learning.taught()

    assert state(services.learning.taught()) == state(keeper(stores).current())


def test_only_the_newest_decisions_teach_and_older_ones_go_in_blocks(services, stores):
    bounded = keeper(stores, most=6, block=4)
    begins = []
    for number in range(1, 15):
        one = post(services, f"{HAM[0]} {number}")
        decide_comment(one.comment.id, Ruling.APPROVE, services, decided_by="mod")

        taught = bounded.current()

        numbers = [learnt.example.number for learnt in taught.learnt]
        begins.append(numbers[0])
        assert numbers == list(range(numbers[0], number + 1))
        assert len(numbers) <= 6
        assert state(taught) == state(keeper(stores, most=6, block=4).current())
    assert begins == [1] * 6 + [4] * 3 + [8] * 4 + [12]


def test_a_worker_that_read_nothing_for_a_while_reads_all_the_same(services, stores):
    now = [0.0]
    late = TaughtKeeper(
        stores.decisions,
        stores.cases,
        stores.sites,
        stores.users,
        audit_share=0.02,
        salt=7,
        monotonic=lambda: now[0],
    )
    late.current()
    decide_some(services)

    at_once = late.current()
    now[0] = timedelta(seconds=0.6).total_seconds()

    assert at_once.learnt == ()
    assert state(late.current()) == state(services.learning.taught())


def test_without_the_classifier_nothing_is_added_and_a_person_looks(stores):
    classifier = FixedClassifier()
    services = make_services(stores=stores, taught=keeper(stores).current, classifier=classifier)
    decide_some(services)
    classifier.answer = None

    verdict = post(services, SPAM.format("seventy")).verdict

    assert (verdict.outcome, lean_of(verdict)) == (Outcome.UNSURE, 0.0)
