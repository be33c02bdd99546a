"""Beat counts as alive for as long as it asks for what is due."""

from __future__ import annotations

import pytest
from celery import Celery
from celery.beat import Scheduler

from service.tasks.heartbeat import INTERVAL_SECONDS
from service.tasks.scheduler import signing_scheduler


class CountedSigns:
    """Counts the signs that are given; see `Signs`."""

    given = 0

    def give(self) -> None:
        """See `Signs.give`."""
        self.given += 1


@pytest.fixture
def signs():
    return CountedSigns()


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def scheduler(signs, clock):
    app = Celery("test", broker="memory://", set_as_current=False)
    app.conf.beat_schedule = {"sweep": {"task": "sweep", "schedule": 1.0}}
    return signing_scheduler(signs, monotonic=lambda: clock[0])(app)


def test_ticks_sign_at_once_and_then_no_more_often_than_is_needed(scheduler, signs, clock):
    for _ in range(9):
        scheduler.tick()
        clock[0] += INTERVAL_SECONDS / 4

    assert signs.given == 3


def test_a_tick_that_does_not_come_to_its_end_signs_nothing(scheduler, signs, monkeypatch):
    def breaks(*_given: object, **_options: object) -> float:
        msg = "stuck, and ended"
        raise SystemExit(msg)

    monkeypatch.setattr(Scheduler, "tick", breaks)

    with pytest.raises(SystemExit):
        scheduler.tick()

    assert signs.given == 0


def test_what_is_waited_for_is_what_the_scheduler_says(scheduler):
    assert 0 <= scheduler.tick() <= 1.0
