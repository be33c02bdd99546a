"""Random faults of every kind that needs no compiler; `bench_faults` has the disk's, and hours."""

from __future__ import annotations

from contextlib import closing

from tests.benchmarks.faults import Receiver, run_under_fire
from tests.benchmarks.own_service import running


def test_what_was_accepted_under_random_faults_is_stored_judged_and_notified_once(tmp_path):
    with closing(Receiver()) as receiver, running(str(tmp_path), **receiver.settings()) as up:
        run = run_under_fire(up, receiver, seed=7, rate=3.0, seconds=20.0)

    assert run.seconds_until_quiet is not None
    assert run.account.faults() == {}
    assert run.account.accepted
    assert len(run.faults.done) > len(run.faults.kinds()) / 2
