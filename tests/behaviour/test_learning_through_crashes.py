"""Wherever a process ends between a decision and its learning: nothing is lost or learnt twice."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from service.domain.comment import Author, CommentId, Sender
from service.domain.decision import Ruling
from service.domain.sender import Person
from service.domain.user import Role
from service.moderation.accounts import add_user
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.erasing import erase_person
from service.moderation.sites import change_site_settings
from service.ports.services import Services
from service.stores import taught as keeping
from service.stores.taught import TaughtKeeper
from tests.factories import SITE, make_comment
from tests.fakes import submit_to
from tests.unit.learning.test_taught import state
from tests.unit.learning.training_examples import HAM, SALT, SPAM
from tests.worlds import kept_world, services_in

N_KNOWN = 6
NEW, EARLY = CommentId("new"), CommentId("early")


def keeper_over(services: Services) -> TaughtKeeper:
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
        post(services, known(number), (SPAM if number % 2 else HAM).format(number))
        ruling = Ruling.REJECT if number % 2 else Ruling.APPROVE
        decide_comment(known(number), ruling, services, decided_by="ada")
    post(services, NEW, SPAM.format("new"))
    services.queue.judges = False
    post(services, EARLY, SPAM.format("early"))
    decide_comment(EARLY, Ruling.REJECT, services, decided_by="import")


def post(services: Services, key: CommentId, text: str) -> None:
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
        undisturbed = state(keeper_over(services).current())
    with world() as services:
        worker = keeper_over(services)
        worker.current()
        act(services)
        at = 1
        while _breaks_off(worker, at):
            at += 1
        assert at > 20

        assert state(worker.current()) == undisturbed
        assert state(keeper_over(services).current()) == undisturbed


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
