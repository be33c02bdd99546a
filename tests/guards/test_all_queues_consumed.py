"""Every queue that is named is consumed, everything that is done on time has its job."""

from service.domain.comment import Lane
from service.processes.background import jobs, retraining_job, slow_jobs
from service.settings import load_settings
from service.tasks.broker import LANE_QUEUES, TASKS_QUEUE, open_client
from service.tasks.celery_app import lane_plans, make_celery
from service.tasks.heartbeat import WORKERS, Heartbeat
from service.wiring import Wired


def test_every_queue_is_consumed_and_takes_json_alone():
    url = "redis://localhost:1/0"
    app = make_celery(url, lambda ids: None, Heartbeat(open_client(url), WORKERS))

    assert list(app.amqp.queues) == [TASKS_QUEUE]
    assert TASKS_QUEUE not in LANE_QUEUES.values()
    assert "ScoringStep" in {step.__name__ for step in app.steps["consumer"]}
    assert app.conf.accept_content == [app.conf.task_serializer] == ["json"]
    assert app.conf.result_backend is None
    # The interactive one goes first.
    assert list(LANE_QUEUES) == list(lane_plans()) == [Lane.INTERACTIVE, Lane.BULK]


def test_everything_that_is_done_on_time_has_one_job(tmp_path):
    settings = {"data_dir": tmp_path, "valkey_url": "redis://localhost:1/0"}
    wired = Wired(load_settings(**settings, second_judge_url="http://127.0.0.1:1/v1"))

    tasks = [job.task for job in (*jobs(wired), *slow_jobs(wired), retraining_job(wired))]

    wired.close()
    assert len(set(tasks)) == len(tasks) == 12
