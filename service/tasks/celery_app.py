"""Makes the Celery application, the same for workers and for beat."""

from __future__ import annotations

from celery import Celery
from celery.signals import setup_logging
from kombu import Queue

from service.tasks.broker import CONSUMER_OPTIONS, kombu_url
from service.tasks.gate import GatedConnection
from service.tasks.names import QueueName, TaskName
from service.tasks.queue_notice import QUEUE_NOTICE, speak_plainly

# A comment that the queue lost waits for the sweep, so it runs often; with nothing stranded it
# costs one indexed query. Messages that no worker took in time expire rather than pile up.
SWEEP_EVERY_SECONDS = 5.0
_SWEEP_EXPIRES_SECONDS = 10.0
# What is old enough goes in portions, for half a second each time: a worker judges nothing
# meanwhile. Where comments are kept for ever, nobody is asked.
PRUNE_FOR_SECONDS = 0.5
PRUNE_EVERY_SECONDS = 30.0
_PRUNE_EXPIRES_SECONDS = 60.0
PRUNE_COMMENTS_EVERY_SECONDS = 15.0
_PRUNE_COMMENTS_EXPIRES_SECONDS = 30.0
PRUNE_SESSIONS_EVERY_SECONDS = 3_600.0
_PRUNE_SESSIONS_EXPIRES_SECONDS = 7_200.0
# Decisions are learnt as they are made; this finds those that histories missed.
REMEMBER_EVERY_SECONDS = 5.0
_REMEMBER_EXPIRES_SECONDS = 10.0
# While histories are blank a worker fills them for half of each second and judges for the other
# half, as every verdict is degraded until it is done. Otherwise it is one question to Valkey.
REBUILD_EVERY_SECONDS = 1.0
REBUILD_FOR_SECONDS = 0.5
_REBUILD_EXPIRES_SECONDS = 4.0
# What came in since is found by the search then. After an upgrade a million may be to take in: a
# worker does that for a quarter of the time.
INDEX_EVERY_SECONDS = 2.0
INDEX_FOR_SECONDS = 0.5
_INDEX_EXPIRES_SECONDS = 6.0
# Comments are looked at for campaigns after they were judged, for a tenth of a worker's time:
# whoever waits for a verdict goes first. A worker that begins fills its memory in such turns.
GROUP_EVERY_SECONDS = 2.0
GROUP_FOR_SECONDS = 0.2
_GROUP_EXPIRES_SECONDS = 4.0
# Drift is told by the day. After an upgrade all that was ever judged is to be counted.
COUNT_EVERY_SECONDS = 10.0
COUNT_FOR_SECONDS = 0.5
_COUNT_EXPIRES_SECONDS = 20.0
# Fresh messages are announced at once; this finds those whose time to be tried again has come.
DELIVER_EVERY_SECONDS = 1.0
_DELIVER_EXPIRES_SECONDS = 4.0
# Thresholds are hours; a test that somebody asked for is there within half a minute.
REMIND_EVERY_SECONDS = 20.0
_REMIND_EXPIRES_SECONDS = 40.0
# Texts that retrainings left behind go within the hour once they may be kept no longer.
PRUNE_RETRAININGS_EVERY_SECONDS = 900.0
_PRUNE_RETRAININGS_EXPIRES_SECONDS = 1_800.0
# Whether a retraining is due is one question to the database.
RETRAIN_EVERY_SECONDS = 600.0
_RETRAIN_EXPIRES_SECONDS = 1_200.0


def make_celery(valkey_url: str, *, retrains: bool = False) -> Celery:
    """Return an application that speaks JSON alone, keeps no results and connects lazily.

    With `retrains` its schedule asks for retrainings too: only where a trainer takes the messages,
    as others would pile them up.
    """
    setup_logging.connect(_leave_logging_alone)
    speak_plainly(QUEUE_NOTICE)
    app = Celery("slopsieve", broker=kombu_url(valkey_url), set_as_current=False)
    app.amqp.Connection = GatedConnection
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_default_queue=QueueName.UPKEEP.value,
        task_queues=[
            Queue(queue.value)
            for queue in (QueueName.UPKEEP, QueueName.CALLBACKS, QueueName.RETRAIN)
        ],
        task_create_missing_queues=False,
        task_store_eager_result=False,
        broker_transport_options=dict(CONSUMER_OPTIONS),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A server that is full refuses single calls. It is waited for as one that is away.
        broker_channel_error_retry=True,
        worker_pool="solo",
        worker_concurrency=1,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # No task of ours runs long enough to be cancelled; the choice silences a warning.
        worker_cancel_long_running_tasks_on_connection_loss=True,
        enable_utc=True,
        timezone="UTC",
        beat_schedule={
            "sweep": {
                "task": TaskName.SWEEP_STRANDED.value,
                "schedule": SWEEP_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _SWEEP_EXPIRES_SECONDS,
                },
            },
            "prune": {
                "task": TaskName.PRUNE_DELIVERIES.value,
                "schedule": PRUNE_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _PRUNE_EXPIRES_SECONDS,
                },
            },
            "prune-comments": {
                "task": TaskName.PRUNE_COMMENTS.value,
                "schedule": PRUNE_COMMENTS_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _PRUNE_COMMENTS_EXPIRES_SECONDS,
                },
            },
            "prune-sessions": {
                "task": TaskName.PRUNE_SESSIONS.value,
                "schedule": PRUNE_SESSIONS_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _PRUNE_SESSIONS_EXPIRES_SECONDS,
                },
            },
            "prune-retrainings": {
                "task": TaskName.PRUNE_RETRAININGS.value,
                "schedule": PRUNE_RETRAININGS_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _PRUNE_RETRAININGS_EXPIRES_SECONDS,
                },
            },
            "remember": {
                "task": TaskName.REMEMBER_OPEN.value,
                "schedule": REMEMBER_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _REMEMBER_EXPIRES_SECONDS,
                },
            },
            "rebuild": {
                "task": TaskName.REBUILD_HISTORY.value,
                "schedule": REBUILD_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _REBUILD_EXPIRES_SECONDS,
                },
            },
            "take in": {
                "task": TaskName.UPDATE_SEARCH_INDEX.value,
                "schedule": INDEX_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _INDEX_EXPIRES_SECONDS,
                },
            },
            "group": {
                "task": TaskName.GROUP_FRESH.value,
                "schedule": GROUP_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _GROUP_EXPIRES_SECONDS,
                },
            },
            "count": {
                "task": TaskName.COUNT_TRAFFIC.value,
                "schedule": COUNT_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.UPKEEP.value,
                    "expires": _COUNT_EXPIRES_SECONDS,
                },
            },
            "remind": {
                "task": TaskName.REMIND.value,
                "schedule": REMIND_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.CALLBACKS.value,
                    "expires": _REMIND_EXPIRES_SECONDS,
                },
            },
            "deliver": {
                "task": TaskName.DELIVER_DUE.value,
                "schedule": DELIVER_EVERY_SECONDS,
                "options": {
                    "queue": QueueName.CALLBACKS.value,
                    "expires": _DELIVER_EXPIRES_SECONDS,
                },
            },
        },
    )
    if retrains:
        app.conf.beat_schedule["retrain"] = {
            "task": TaskName.RETRAIN.value,
            "schedule": RETRAIN_EVERY_SECONDS,
            "options": {"queue": QueueName.RETRAIN.value, "expires": _RETRAIN_EXPIRES_SECONDS},
        }
    return app


def _leave_logging_alone(**_options: object) -> None:
    """Take Celery's place in setting up logging: its own lines would show what messages carry."""
