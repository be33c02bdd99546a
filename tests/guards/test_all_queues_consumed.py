"""Every queue that is named is consumed, every task that is scheduled is known to the worker."""

from __future__ import annotations

from service.domain.comment import Lane
from service.tasks.callbacks import register_callbacks
from service.tasks.celery_app import make_celery
from service.tasks.names import LANE_QUEUES, QueueName, TaskName
from service.tasks.reminding import register_reminding
from service.tasks.retraining import register_retraining
from service.tasks.scoring import lane_plans, register_scoring
from service.tasks.upkeep import UPKEEP_TASKS, register_upkeep


def _worker_app():
    app = make_celery("redis://localhost:1/0", retrains=True)
    register_scoring(app, lambda ids: None, batch_size=8)
    register_upkeep(app, dict.fromkeys(UPKEEP_TASKS, lambda: None))
    register_callbacks(app, lambda: None)
    register_reminding(app, lambda: None)
    register_retraining(app, lambda: None)
    return app


def test_every_queue_is_consumed_by_the_worker():
    app = _worker_app()

    by_tasks = {QueueName(name) for name in app.amqp.queues}
    by_lanes = {LANE_QUEUES[lane] for lane in lane_plans(8)}
    assert by_tasks | by_lanes == set(QueueName)
    assert by_tasks & by_lanes == set()
    assert "ScoringStep" in {step.__name__ for step in app.steps["consumer"]}


def test_every_lane_has_a_queue_and_the_interactive_one_goes_first():
    assert list(LANE_QUEUES) == list(lane_plans(8)) == [Lane.INTERACTIVE, Lane.BULK]
    assert set(Lane) == set(LANE_QUEUES)


def test_every_task_is_registered_and_every_scheduled_one_exists():
    app = _worker_app()

    scheduled = {TaskName(entry["task"]) for entry in app.conf.beat_schedule.values()}
    assert set(TaskName) == {TaskName(n) for n in app.tasks if not n.startswith("celery.")}
    assert scheduled <= set(TaskName)


def test_scheduled_messages_expire_before_they_pile_up():
    app = _worker_app()

    for entry in app.conf.beat_schedule.values():
        assert entry["schedule"] <= entry["options"]["expires"] <= 4 * entry["schedule"]
        assert entry["options"]["queue"] in set(QueueName)


def test_messages_are_json_alone_and_results_are_not_kept():
    conf = _worker_app().conf

    assert conf.accept_content == ["json"]
    assert conf.task_serializer == "json"
    assert conf.result_backend is None
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
