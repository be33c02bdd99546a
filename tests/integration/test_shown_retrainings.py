"""What operators are shown of retrainings."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.retraining import (
    Recommendation,
    Retraining,
    RetrainingReport,
    RetrainingState,
)
from service.processes.operating import KILLED, state_parts
from service.settings import load_settings
from service.wiring import wire
from tests.factories import NOW
from tests.fakes import make_services

_LATELY = NOW - timedelta(seconds=10)


@pytest.fixture
def show(tmp_path, valkey):
    """Return what is shown of these retrainings, the value by name and label."""
    wired = wire(load_settings(data_dir=tmp_path, valkey_url=valkey.url))

    def shown(*retrainings: Retraining) -> dict[tuple[str, ...], float]:
        services = make_services(clock=lambda: NOW)
        for one in retrainings:
            services.retrainings.put(one)
        part = state_parts(replace(wired, services=services))["retrainings"]
        return {
            (sample.name.removeprefix("slopsieve_retraining_"), *sample.labels.values()):
            sample.value
            for metric in part.read()
            for sample in metric.samples
        }  # fmt: skip

    yield shown
    wired.close()


def make(number: int, state: RetrainingState, **changes) -> Retraining:
    values = {"id": f"rtr_{number}", "asked_by": "schedule", "state": state}
    return Retraining(asked_at=_LATELY + timedelta(seconds=number), **(values | changes))


def ended(number: int, recommendation: Recommendation) -> Retraining:
    report = RetrainingReport(recommendation=recommendation, version=f"retrained-{number}")
    return make(number, RetrainingState.ENDED, ended_at=NOW, report=report)


def states(shown):
    return {labels[1]: value for labels, value in shown.items() if labels[0] == "state"}


def test_where_nothing_was_retrained_nothing_is_shown(show):
    assert show() == {}


def test_a_failed_one_is_shown_until_another_has_begun(show):
    failed = make(1, RetrainingState.FAILED, ended_at=NOW, problem="memory")
    again = make(2, RetrainingState.RUNNING, seen_at=_LATELY)

    assert [state for state, value in states(show(failed)).items() if value] == ["failed"]
    assert [state for state, value in states(show(failed, again)).items() if value] == ["running"]


def test_one_that_is_not_heard_of_any_more_was_killed(show):
    silent = make(1, RetrainingState.RUNNING, seen_at=NOW - timedelta(minutes=5))

    assert [state for state, value in states(show(silent)).items() if value] == [KILLED]


def test_the_last_that_ended_says_when_and_what_it_recommends_whatever_came_after(show):
    shown = show(ended(1, Recommendation.REFUSE), make(2, RetrainingState.FAILED, ended_at=NOW))

    assert shown["ended_timestamp_seconds",] == NOW.timestamp()
    assert {key[1]: value for key, value in shown.items() if key[0] == "recommendation"} == {
        "promote": 0.0,
        "refuse": 1.0,
        "nothing to learn": 0.0,
    }


def test_candidates_that_wait_for_an_owner_are_counted(show):
    shown = show(ended(1, Recommendation.PROMOTE), ended(2, Recommendation.REFUSE))

    assert shown["waits",] == 1.0
