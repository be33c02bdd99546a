"""Comments on their way through a real Valkey and a real worker, on good days and bad ones."""

from __future__ import annotations

import json
import signal
import time

from service.domain.comment import Lane
from service.domain.verdict import Outcome
from service.moderation.judging.judge import MAX_ATTEMPTS
from service.ports.comments import AddOutcome, NewComment
from service.settings import load_settings
from service.stores.files.model_versions import model_unavailable
from service.tasks.broker import open_client
from service.tasks.heartbeat import live_workers
from service.wiring import wire
from tests.factories import make_comment
from tests.integration.installation import until
from tests.servers import GIVEN_UP_SECONDS, free_port, running_valkey


def texts(count, word="radiator"):
    return [f"comment number {number} about a {word}" for number in range(count)]


def attempts(installation, ids):
    return [a.attempts for a in installation.services.intake.comments.load_unjudged(ids)]


def test_a_submitted_comment_is_judged_by_the_real_worker_and_model(install):
    installation = install()
    installation.start_worker()

    [comment_id] = installation.submit(["I had the same trouble."], Lane.INTERACTIVE)

    [case] = installation.await_verdicts([comment_id])
    assert case.verdict.model_version != model_unavailable().version
    assert not case.verdict.degraded


def test_a_flood_is_judged_in_full_batches(install):
    installation = install()
    ids = installation.submit(texts(500))
    installation.start_worker(0.0)

    cases = installation.await_verdicts(ids)

    assert {case.verdict.outcome for case in cases} == {Outcome.HAM}
    assert "batch=64" in installation.log.read_text()


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
    assert installation.stored_verdicts() == 40


def test_a_worker_told_to_stop_hands_back_what_it_did_not_judge(install):
    installation = install(batch_size=8)
    ids = installation.submit(texts(200))
    worker = installation.start_worker(0.05)
    until(lambda: installation.judged(ids))
    worker.send_signal(signal.SIGTERM)
    code = worker.wait(timeout=15)
    judged = len(installation.judged(ids))
    waiting = sum(installation.services.intake.queue.depth().values())

    installation.start_worker(0.0)
    installation.await_verdicts(ids)

    assert code == 0
    assert 0 < judged < 200
    assert judged + waiting == 200
    assert installation.stored_verdicts() == 200


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
        assert installation.stored_verdicts() == 303
        worker.terminate()
        worker.wait(timeout=15)


def test_without_a_broker_comments_are_kept_at_once_and_judged_after_a_sweep(install):
    installation = install()
    away = wire(
        load_settings(data_dir=installation.folder, valkey_url=f"redis://127.0.0.1:{free_port()}/0")
    )
    began = time.monotonic()
    ids = installation.submit(texts(5), wired=away)
    seconds = time.monotonic() - began
    away.close()

    installation.start_worker(0.0)
    installation.sweep_later()
    cases = installation.await_verdicts(ids)

    assert seconds < GIVEN_UP_SECONDS
    assert len(cases) == 5
    assert not any(case.verdict.degraded for case in cases)


def test_a_poisonous_comment_goes_to_a_person_alone(install):
    installation = install()
    ids = installation.submit([*texts(20), "poison", *texts(20)])
    installation.start_worker(0.0)

    cases = installation.await_verdicts(ids)

    poisonous = [case for case in cases if case.verdict.degraded]
    assert [case.comment.text for case in poisonous] == ["poison"]
    assert poisonous[0].verdict.outcome is Outcome.UNSURE
    assert "poison" not in installation.log.read_text()


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


def test_a_bulk_flood_delays_a_waiting_person_by_about_a_batch(install):
    installation = install(batch_size=16)
    flood = installation.submit(texts(800))
    installation.start_worker(0.1)
    until(lambda: installation.judged(flood))
    before = len(installation.judged(flood))

    [waiting] = installation.submit(["Is it the valve?"], Lane.INTERACTIVE)
    installation.await_verdicts([waiting])

    overtaken_by = len(installation.judged(flood)) - before
    assert overtaken_by <= 3 * 16
    assert len(installation.judged(flood)) < 800


def test_an_id_queued_twice_is_judged_once(install):
    installation = install()
    ids = installation.submit(texts(10))
    installation.services.intake.queue.put([*ids, *ids], Lane.BULK)
    installation.services.intake.queue.put(ids, Lane.INTERACTIVE)

    installation.start_worker(0.0)
    installation.await_verdicts(ids)

    until(lambda: not any(installation.services.intake.queue.depth().values()))
    assert installation.stored_verdicts() == 10


def test_what_nobody_of_ours_put_into_the_queue_is_dropped(install):
    installation = install()
    client = open_client(installation.valkey_url)
    foreign = {
        "body": "bm90IGpzb24=",
        "content-type": "application/x-python-serialize",
        "content-encoding": "binary",
        "properties": {
            "delivery_info": {"exchange": "", "routing_key": "slopsieve.bulk"},
            "delivery_tag": "foreign",
            "body_encoding": "base64",
        },
    }
    client.lpush("slopsieve.bulk", json.dumps(foreign))
    ids = installation.submit(texts(3))
    worker = installation.start_worker(0.0)

    installation.await_verdicts(ids)

    assert worker.poll() is None
    assert "a message was not understood" in installation.log.read_text()
    client.close()


def test_a_worker_gives_signs_of_life_and_takes_them_back(install):
    installation = install()
    client = open_client(installation.valkey_url)
    worker = installation.start_worker()
    [sign] = until(lambda: live_workers(client))
    worker.terminate()
    worker.wait(timeout=15)

    gone = live_workers(client)
    client.close()

    assert sign.model_version != model_unavailable().version
    assert sign.model_problem is None
    assert gone == []


def test_a_comment_kept_by_a_request_that_died_is_judged_after_a_sweep(install):
    installation = install()
    services = installation.services
    comment = make_comment(site_id=installation.site.id, received_at=services.common.clock())
    [added] = services.intake.comments.add([NewComment(comment=comment, lane=Lane.INTERACTIVE)])
    installation.start_worker(0.0)

    installation.sweep_later()
    [case] = installation.await_verdicts([comment.id])

    assert added.outcome is AddOutcome.NEW
    assert case.verdict.outcome is Outcome.HAM
