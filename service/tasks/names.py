"""Spells every queue and task name once."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from service.domain.comment import Lane


class QueueName(StrEnum):
    """The lists in Valkey that messages wait in; the prefix lets the server be shared.

    A Celery worker needs a queue of tasks; nothing is sent to ours.
    """

    INTERACTIVE = "slopsieve.interactive"
    BULK = "slopsieve.bulk"
    TASKS = "slopsieve.upkeep"


class TaskName(StrEnum):
    """What the background process does on time, as metrics and log lines name it."""

    SWEEP_STRANDED = "slopsieve.sweep_stranded"
    PRUNE_DELIVERIES = "slopsieve.prune_deliveries"
    REMEMBER_OPEN = "slopsieve.remember_open"
    REBUILD_HISTORY = "slopsieve.rebuild_history"
    UPDATE_SEARCH_INDEX = "slopsieve.take_in_search"
    GROUP_FRESH = "slopsieve.group_fresh"
    PRUNE_COMMENTS = "slopsieve.prune_comments"
    PRUNE_SESSIONS = "slopsieve.prune_sessions"
    SEND_DIGESTS = "slopsieve.send_digests"
    ASK_SECOND_JUDGE = "slopsieve.ask_second_judge"
    PRUNE_RETRAININGS = "slopsieve.prune_retrainings"
    RETRAIN = "slopsieve.retrain"


# In the order in which they are consumed: the bulk lane moves while nobody waits.
LANE_QUEUES: Mapping[Lane, QueueName] = {
    Lane.INTERACTIVE: QueueName.INTERACTIVE,
    Lane.BULK: QueueName.BULK,
}

# The one field of a scoring message; messages carry ids and nothing else.
COMMENT_ID_FIELD = "comment_id"
