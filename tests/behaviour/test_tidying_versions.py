"""Refused candidates go, but the newest; whatever anybody needs stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
    RetrainingReport,
    RetrainingState,
)
from service.moderation.versions import promote_version, tidy_versions
from tests.fakes import FixedShelf, make_services

NAMES = [f"candidate-{number}" for number in range(6)]


@pytest.fixture
def shelf():
    return FixedShelf("serving", *NAMES)


@pytest.fixture
def services(shelf):
    return make_services(versions=shelf)


def ended(services, name, recommendation=Recommendation.REFUSE, **changes):
    services.clock.advance(minutes=1)
    now = services.clock()
    one = Retraining(
        id=services.new_id("rtr"),
        asked_by="Olive",
        asked_at=now,
        state=RetrainingState.ENDED,
        ended_at=now,
        report=RetrainingReport(recommendation=recommendation, version=name),
    )
    services.retrainings.put(replace(one, **changes))
    return one


def answer(services, one, given):
    services.retrainings.answer(one.id, given, by="Olive", at=services.clock())


def test_the_newest_refused_ones_stay(services, shelf):
    for name in NAMES:
        ended(services, name)

    dropped = tidy_versions(services, keep=2)

    assert dropped == 4
    assert shelf.names == ["serving", "candidate-4", "candidate-5"]
    assert tidy_versions(services, keep=2) == 0


def test_what_an_owner_refused_goes_and_what_waits_for_an_answer_stays(services, shelf):
    refused = ended(services, NAMES[0], Recommendation.PROMOTE)
    answer(services, refused, Answer.REFUSED)
    ended(services, NAMES[1], Recommendation.PROMOTE)
    promoted = ended(services, NAMES[2], Recommendation.PROMOTE)
    answer(services, promoted, Answer.PROMOTED)
    ended(services, NAMES[3])

    tidy_versions(services, keep=1)

    assert shelf.names == ["serving", *NAMES[1:]]


def test_what_serves_or_served_stays(services, shelf):
    for name in NAMES:
        ended(services, name)
    for name in (NAMES[0], NAMES[1], NAMES[2]):
        promote_version(name, services, by="Olive")

    tidy_versions(services, keep=1)

    assert shelf.names == ["serving", *NAMES[:3], NAMES[5]]


def test_versions_that_no_retraining_is_known_of_stay(services, shelf):
    ended(services, "somewhere-else")
    ended(services, NAMES[0])

    assert tidy_versions(services, keep=1) == 0
    assert shelf.names == ["serving", *NAMES]


def test_while_a_retraining_runs_nothing_is_deleted(services, shelf):
    for name in NAMES:
        ended(services, name)
    now = services.clock()
    ended(services, None, state=RetrainingState.RUNNING, report=None, seen_at=now)

    during = tidy_versions(services, keep=1)
    services.clock.advance(minutes=10)

    assert (during, tidy_versions(services, keep=1)) == (0, 5)
