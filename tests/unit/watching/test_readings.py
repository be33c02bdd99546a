"""Parts are asked at their own pace, and one that hangs keeps nobody waiting."""

from __future__ import annotations

import contextlib
import threading

import pytest
from prometheus_client.metrics_core import Metric

from service.watching import readings
from service.watching.readings import Part, Readings, as_metric
from tests.fakes import Seconds
from tests.log_lines import log_lines


class Source:
    """A part that can be told to fail or to hang; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.fails = False
        self.goes_on = threading.Event()
        self.goes_on.set()

    def __call__(self) -> list[Metric]:
        self.asked += 1
        assert self.goes_on.wait(20)
        if self.fails:
            raise ConnectionError("redis://:hunter2@127.0.0.1")
        return [as_metric("answers", "How often.", self.asked, {})]


@pytest.fixture
def clock() -> Seconds:
    return Seconds(1000.0)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def looked(source, clock):
    """Return a function that looks and returns the numbers by name and part."""
    with contextlib.closing(
        Readings({"source": Part(read=source, every_seconds=5.0)}, monotonic=clock)
    ) as made:
        yield lambda: {
            (s.name, s.labels.get("part", "")): s.value for m in made.look() for s in m.samples
        }
        source.goes_on.set()


def test_however_often_somebody_looks_a_part_is_asked_at_its_pace(looked, source, clock):
    for clock.now in (1000, 1001, 1004.9, 1005, 1006):
        found = looked()

    assert source.asked == 2
    assert found == {("slopsieve_part_read", "source"): 1, ("answers", ""): 2}


def test_a_part_that_fails_says_so_and_its_last_numbers_last_a_minute(
    looked, source, clock, caplog
):
    looked()
    source.fails = True
    clock.now += 10
    soon = looked()
    clock.now += 60
    late = looked()

    assert soon == {("slopsieve_part_read", "source"): 0, ("answers", ""): 1}
    assert late == {("slopsieve_part_read", "source"): 0}
    assert "hunter2" not in log_lines(caplog)
    assert "error=ConnectionError at=test_readings.py:" in log_lines(caplog)


def test_a_part_that_hangs_is_not_waited_for_nor_asked_again(looked, source, clock, monkeypatch):
    monkeypatch.setattr(readings, "_PATIENCE_SECONDS", 0.05)
    source.goes_on.clear()

    found = [looked()]
    clock.now += 100
    found.append(looked())

    assert found == [{("slopsieve_part_read", "source"): 0}] * 2
    assert source.asked == 1


def test_a_part_that_costs_much_is_asked_seldom(clock):
    asked = []

    def slow() -> list[Metric]:
        asked.append(clock.now)
        clock.now += 2
        return []

    with contextlib.closing(
        Readings({"slow": Part(read=slow, every_seconds=5.0)}, monotonic=clock)
    ) as made:
        for _ in range(10):
            made.look()
            clock.now += 5

    first, second = asked
    assert second - first >= 40
