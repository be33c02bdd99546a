"""What operators are shown of retrainings."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from service.domain.retraining import Recommendation, Retraining, RetrainingReport, RetrainingState
from service.processes.operating import KILLED, state_parts
from tests.factories import NOW
from tests.fakes import make_services

_LATELY = NOW - timedelta(seconds=10)


def show(*retrainings: Retraining) -> dict[tuple[str, ...], float]:
    """Return the metrics of these retrainings, the value by name and label."""
    services = make_services(clock=lambda: NOW)
    for one in retrainings:
        services.retrainings.put(one)
    wired = SimpleNamespace(services=services, valkey_url="redis://127.0.0.1:1/0")
    samples = [sample for m in state_parts(wired)["retrainings"].read() for sample in m.samples]
    return {
        (one.name.removeprefix("slopsieve_retraining_"), *one.labels.values()): one.value
        for one in samples
    }


def make(number: int, state: RetrainingState, **changes) -> Retraining:
    values = {"id": f"rtr_{number}", "asked_by": "schedule", "state": state}
    return Retraining(asked_at=_LATELY + timedelta(seconds=number), **(values | changes))


def ended(number: int, recommendation: Recommendation) -> Retraining:
    report = RetrainingReport(recommendation=recommendation, version=f"retrained-{number}")
    return make(number, RetrainingState.ENDED, ended_at=NOW, report=report)


def test_where_nothing_was_retrained_nothing_is_shown():
    assert show() == {}


FAILED = make(1, RetrainingState.FAILED, ended_at=NOW, problem="memory")
AGAIN = make(2, RetrainingState.RUNNING, seen_at=_LATELY)
SILENT = make(1, RetrainingState.RUNNING, seen_at=NOW - timedelta(minutes=5))


@pytest.mark.parametrize(
    ("retrainings", "state"),
    [([FAILED], "failed"), ([FAILED, AGAIN], "running"), ([SILENT], KILLED)],
)
def test_the_newest_ones_state_is_shown_and_one_that_fell_silent_was_killed(retrainings, state):
    shown = show(*retrainings)

    assert [key[1] for key, value in shown.items() if key[0] == "state" and value] == [state]


def test_the_last_that_ended_says_when_and_what_it_recommends_whatever_came_after():
    shown = show(
        ended(1, Recommendation.PROMOTE),
        ended(2, Recommendation.REFUSE),
        make(3, RetrainingState.FAILED, ended_at=NOW),
    )

    assert shown["ended_timestamp_seconds",] == NOW.timestamp()
    assert {key[1]: value for key, value in shown.items() if key[0] == "recommendation"} == {
        "promote": 0.0,
        "refuse": 1.0,
        "nothing to learn": 0.0,
    }
    assert shown["waits",] == 1.0
