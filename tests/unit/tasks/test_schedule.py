"""What is done on time: when, for how long, and what happens after a fault."""

import logging
import threading

import pytest

from service.domain.errors import ConflictError, StoreUnavailableError
from service.tasks.schedule import Job, Schedule
from tests.commands import until
from tests.log_lines import log_lines

SWEEP, GROUP = "slopsieve.sweep_stranded", "slopsieve.group_fresh"


def test_a_job_runs_at_once_and_again_when_its_time_has_come(seconds):
    runs = []
    job = Job(task=SWEEP, every_seconds=10.0, run=lambda should_continue: runs.append(seconds.now))
    schedule = Schedule([job], monotonic=seconds)

    for seconds.now in (0.0, 4.0, 9.9, 10.0, 15.0, 20.0):
        schedule.run_due()

    assert runs == [0.0, 10.0, 20.0]


def test_a_job_that_is_behind_is_cut_off_and_goes_on_in_its_share_of_the_time(seconds):
    def work(should_continue):
        while should_continue():
            seconds.now += 0.25

    job = Job(task=GROUP, every_seconds=60.0, run=work, turn_seconds=0.5, share=0.1)

    assert Schedule([job], monotonic=seconds).run_due() == pytest.approx(0.5 * 9)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreUnavailableError("away"), "stores are away"),
        (ConflictError("another runs"), "a job was refused"),
        (ValueError("words"), "upkeep failed"),
    ],
)
def test_a_fault_ends_one_run_alone_and_is_told_without_its_words(seconds, caplog, error, said):
    runs = []

    def breaks(should_continue):
        raise error

    jobs = [
        Job(task=SWEEP, every_seconds=10.0, run=breaks),
        Job(task=GROUP, every_seconds=10.0, run=lambda should_continue: runs.append(1)),
    ]
    schedule = Schedule(jobs, monotonic=seconds)
    with caplog.at_level(logging.WARNING):
        schedule.run_due()
        seconds.now = 10.0
        schedule.run_due()

    assert runs == [1, 1]
    assert said in caplog.text
    assert "words" not in log_lines(caplog)


def test_woken_it_runs_every_job_once_more():
    looks = []
    schedule = Schedule(
        [Job(task=GROUP, every_seconds=60.0, run=lambda should_continue: looks.append(1))]
    )

    schedule.start()
    until(lambda: len(looks) == 1)
    schedule.wake()
    until(lambda: len(looks) == 2)
    schedule.stop()
    schedule.join(seconds=5)

    assert len(looks) == 2


def test_told_to_stop_it_ends_the_run_at_hand_and_begins_no_other():
    began, ended, others = threading.Event(), [], []

    def work(should_continue):
        began.set()
        while should_continue():
            pass
        ended.append(True)

    schedule = Schedule(
        [
            Job(task=SWEEP, every_seconds=60.0, run=work, turn_seconds=60.0),
            Job(task=GROUP, every_seconds=60.0, run=lambda should_continue: others.append(1)),
        ]
    )
    schedule.start()
    began.wait(5)
    schedule.stop()
    schedule.join(seconds=5)

    assert (ended, others) == ([True], [])


def test_a_job_that_is_stuck_shows(seconds):
    def sticks(should_continue):
        seconds.now += 200.0
        raise SystemExit

    schedule = Schedule([Job(task=SWEEP, every_seconds=60.0, run=sticks)], monotonic=seconds)
    with pytest.raises(SystemExit):
        schedule.run_due()

    assert schedule.seconds_since_turn() == 200.0
