"""A decision helps with the next comment, whatever breaks off its learning."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from types import FrameType
from typing import Any

import pytest

from service.domain.comment import Author, CommentId, FormEvidence, Lane, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.sender import Person
from service.domain.user import Role
from service.domain.verdict import Outcome, WeightKind
from service.moderation.accounts import add_user
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.erasing import erase_person
from service.moderation.sites import change_site_settings
from service.ports.services import Services
from service.scoring.lean import SITE_DECISIONS, frozen_score
from service.stores import taught as keeping
from service.stores.taught import TaughtKeeper
from tests.databases import fresh_stores
from tests.factories import SITE, make_comment
from tests.fakes import FixedClassifier, ForgetfulHistory, make_services, make_site, submit_to
from tests.unit.learning.test_taught import state
from tests.unit.learning.training_examples import HAM, SALT, SPAM, keeper_over
from tests.worlds import kept_world, services_in

OTHER = SiteId("site-2")


@pytest.fixture
def stores():
    return fresh_stores(sites=[make_site(), make_site(id=OTHER, name="Tap blog")])


@pytest.fixture
def services(stores):
    return make_services(
        stores=stores, taught=keeper_over(stores).current, history=ForgetfulHistory()
    )


def post(services, text: str, **changes):
    comment = make_comment(text, **changes)
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    return services.cases.get(comment.id)


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


def test_only_the_newest_decisions_teach_and_older_ones_go_in_blocks(services, stores):
    bounded = keeper_over(stores, most=6, block=4)
    begins = []
    for number in range(1, 15):
        one = post(services, f"{HAM[0]} {number}")
        decide_comment(one.comment.id, Ruling.APPROVE, services, decided_by="mod")

        taught = bounded.current()

        numbers = [learnt.example.number for learnt in taught.learnt]
        begins.append(numbers[0])
        assert numbers == list(range(numbers[0], number + 1))
        assert len(numbers) <= 6
        assert state(taught) == state(keeper_over(stores, most=6, block=4).current())
    assert begins == [1] * 6 + [4] * 3 + [8] * 4 + [12]


def test_a_worker_that_read_nothing_for_a_while_reads_all_the_same(services, stores):
    now = [0.0]
    late = keeper_over(stores, recheck_seconds=0.5, monotonic=lambda: now[0])
    late.current()
    decide_some(services)

    at_once = late.current()
    now[0] = timedelta(seconds=0.6).total_seconds()

    assert at_once.learnt == ()
    assert state(late.current()) == state(services.taught())


def test_without_the_classifier_nothing_is_added_and_a_person_looks(stores):
    classifier = FixedClassifier()
    services = make_services(
        stores=stores, taught=keeper_over(stores).current, classifier=classifier
    )
    decide_some(services)
    classifier.answer = None

    verdict = post(services, SPAM.format("seventy")).verdict

    assert (verdict.outcome, lean_of(verdict)) == (Outcome.UNSURE, 0.0)


N_KNOWN = 6
NEW, EARLY = CommentId("new"), CommentId("early")


def worker_of(services: Services) -> TaughtKeeper:
    """Return what a worker that starts now learns with."""
    return TaughtKeeper(
        services.decisions,
        services.cases,
        services.sites,
        services.users,
        audit_share=0.02,
        salt=SALT,
        recheck_seconds=0,
        monotonic=lambda: 0.0,
    )


def known(number: int) -> CommentId:
    return CommentId(f"known-{number}")


def prepare(services: Services) -> None:
    """Have some comments judged and decided, one judged and one decided only."""
    add_user("ada", services, actor="test", role=Role.OWNER)
    for number in range(N_KNOWN):
        post_as(services, known(number), (SPAM if number % 2 else HAM).format(number))
        ruling = Ruling.REJECT if number % 2 else Ruling.APPROVE
        decide_comment(known(number), ruling, services, decided_by="ada")
    post_as(services, NEW, SPAM.format("new"))
    services.queue.judges = False
    post_as(services, EARLY, SPAM.format("early"))
    decide_comment(EARLY, Ruling.REJECT, services, decided_by="import")


def post_as(services: Services, key: CommentId, text: str) -> None:
    comment = make_comment(text, id=key, author=Author(name=f"Writer of {key}"))
    submit_to(services, comment)


@functools.cache
def _world() -> bytes:
    return kept_world(prepare)


@contextmanager
def world() -> Iterator[Services]:
    numbers = itertools.count(10_000)
    with services_in(
        world=_world(), judges=False, new_id=lambda prefix: f"{prefix}_{next(numbers)}"
    ) as services:
        yield services


def undo(services: Services) -> None:
    # Whoever asks again after a crash sees that it was undone.
    if services.cases.get(known(1)).decision is not None:
        undo_decision(known(1), services, undone_by="ada")


def rule(key: CommentId, ruling: Ruling) -> Callable[[Services], Any]:
    return lambda services: decide_comment(key, ruling, services, decided_by="ada")


def erase(services: Services) -> None:
    person = Person(sender=Sender(), author_name=f"Writer of {known(1)}")
    erase_person(person, services, by="ada")


def switch_off(services: Services) -> None:
    change_site_settings(SITE, lambda now: replace(now, learns=False), services, actor="ada")


ACTS: dict[str, Callable[[Services], Any]] = {
    "decide": rule(NEW, Ruling.REJECT),
    "decide otherwise": rule(known(1), Ruling.APPROVE),
    "undo": undo,
    "erase": erase,
    "switch off": switch_off,
}


@pytest.mark.parametrize("name", ACTS)
def test_whatever_step_of_learning_breaks_off_the_next_question_and_a_new_start_make_it_good(name):
    act = ACTS[name]
    with world() as services:
        act(services)
        undisturbed = state(worker_of(services).current())
    with world() as services:
        worker = worker_of(services)
        worker.current()
        act(services)
        at = 1
        while _breaks_off(worker, at):
            at += 1
        assert at > 20

        assert state(worker.current()) == undisturbed
        assert state(worker_of(services).current()) == undisturbed


class _Broken(BaseException):
    """Ends whatever runs, as nothing that the code could be prepared for."""


def _breaks_off(worker: TaughtKeeper, at: int) -> bool:
    """Return True if `keep` ran that many lines; it is interrupted at the last one."""
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != keeping.__file__:
            return None
        lines += event == "line"
        if lines == at:
            raise _Broken
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        worker.current()
    except _Broken:
        return True
    finally:
        sys.settrace(before)
    return False
