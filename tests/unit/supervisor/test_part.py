"""How a supervised process is brought back."""

from __future__ import annotations

import sys

import pytest

from service.supervisor.part import Part, Recipe
from tests.fakes import Seconds
from tests.integration.installation import until


@pytest.fixture
def clock():
    return Seconds()


@pytest.fixture
def lines():
    return []


@pytest.fixture
def make_part(clock, lines):
    made = []

    def make(code, *, stop_seconds=5.0):
        recipe = Recipe(
            name="worker",
            command=[sys.executable, "-S", "-c", code],
            environment={},
            stop_seconds=stop_seconds,
        )
        part = Part(recipe, write_line=lines.append, monotonic=clock)
        made.append(part)
        return part

    yield make
    for part in made:
        part.ask_to_stop()
        clock.now += 1000
        part.wait_or_kill()


def await_death(part):
    codes = []

    def died():
        code = part.look_after()
        if code is not None:
            codes.append(code)
        return codes

    until(died)
    return codes[0]


def test_a_part_that_keeps_dying_comes_back_ever_more_slowly(make_part, clock):
    part = make_part("raise SystemExit(1)")
    part.start()
    waits = []

    for _ in range(9):
        await_death(part)
        died_at = clock.now
        while part.pid is None:
            clock.now += 0.25
            part.look_after()
        waits.append(clock.now - died_at)

    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_healthy_minute_makes_earlier_deaths_forgotten(make_part, clock):
    part = make_part("import sys; sys.stdin.read(); raise SystemExit(1)")
    for _ in range(3):
        part.start()
        await_death(part)
    part.start()
    clock.now += 61

    await_death(part)
    clock.now += 0.25
    part.look_after()

    assert part.pid is not None


def test_a_part_that_ignores_the_order_to_stop_is_killed(make_part, clock, lines):
    part = make_part(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(600)",
        stop_seconds=0.0,
    )
    part.start()
    until(lambda: lines)

    part.ask_to_stop()
    part.wait_or_kill()

    assert part.pid is None
