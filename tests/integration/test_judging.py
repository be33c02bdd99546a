"""Comments on their way through a real Valkey and a real worker, on good days and bad ones."""

import signal

from service.domain.comment import Lane
from service.domain.verdict import Outcome
from service.moderation.judging import MAX_ATTEMPTS
from tests.benchmarks.faults import faulty_service, run_under_fire
from tests.commands import until
from tests.servers import free_port, running_valkey


def texts(count, word="radiator"):
    return [f"comment number {number} about a {word}" for number in range(count)]


def attempts(installation, ids):
    return [a.attempts for a in installation.services.comments.load_unjudged(ids)]


def test_a_worker_killed_in_the_middle_of_a_batch_loses_no_comment_and_judges_none_twice(install):
    installation = install()
    ids = installation.submit(texts(40))
    worker = installation.start_worker(30.0)
    until(lambda: any(attempts(installation, ids)))
    worker.kill()
    worker.wait()
    before = installation.judged(ids)

    installation.start_worker(0.0)
    swept = installation.sweep_later()
    cases = installation.await_verdicts(ids)

    assert before == []
    assert swept == 40
    assert not any(case.verdict.degraded for case in cases)
    assert installation.stored_verdicts(40) == 40


def test_a_worker_told_to_stop_hands_back_what_it_did_not_judge(install):
    installation = install(batch_size=8)
    ids = installation.submit(texts(200))
    worker = installation.start_worker(0.05)
    until(lambda: installation.judged(ids))
    worker.send_signal(signal.SIGTERM)
    code = worker.wait(timeout=15)
    judged = len(installation.judged(ids))
    waiting = sum(installation.services.queue.depth().values())

    installation.start_worker(0.0)
    installation.await_verdicts(ids)

    assert code == 0
    assert 0 < judged < 200
    assert judged + waiting == 200
    assert installation.stored_verdicts(200) == 200


def test_a_worker_goes_on_by_itself_when_valkey_was_restarted(install, tmp_path):
    (tmp_path / "valkey").mkdir()
    port = free_port()
    with running_valkey(tmp_path / "valkey", port=port) as server:
        installation = install(valkey_url=server.url, batch_size=8)
        ids = installation.submit(texts(300))
        worker = installation.start_worker(0.05)
        until(lambda: installation.judged(ids))
    halfway = len(installation.judged(ids))

    with running_valkey(tmp_path / "valkey", port=port):
        late = installation.submit(texts(3), Lane.INTERACTIVE)
        installation.sweep_until_judged([*ids, *late])

        assert worker.poll() is None
        assert halfway < 300
        assert installation.stored_verdicts(303) == 303
        worker.terminate()
        worker.wait(timeout=15)


def test_a_comment_that_ends_its_worker_goes_to_a_person_and_its_neighbours_are_judged(install):
    installation = install()
    ids = installation.submit(["before", "kill", "after"])
    deaths = []
    for _ in range(MAX_ATTEMPTS):
        worker = installation.start_worker(0.0)
        deaths.append(worker.wait(timeout=20))
        installation.sweep_later()
    installation.start_worker(0.0)

    before, killer, after = installation.await_verdicts(ids)

    assert deaths == [70] * MAX_ATTEMPTS
    assert killer.verdict.outcome is Outcome.UNSURE
    assert killer.verdict.degraded
    assert (before.verdict.outcome, after.verdict.outcome) == (Outcome.HAM, Outcome.HAM)
    assert not before.verdict.degraded
    assert not after.verdict.degraded


def test_what_was_accepted_under_random_faults_is_stored_judged_and_notified_once():
    with faulty_service(bad_disk=False) as faults:
        client, quiet_after = run_under_fire(faults, seed=7, rate=3.0, seconds=20.0)
        problems = faults.problems(client)

    assert quiet_after is not None
    assert not any(problems.values()), problems
    assert client.accepted
    assert len(faults.done) > len(faults.kinds()) / 2
