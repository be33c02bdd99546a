"""Wakes the process that retrains, and knows whether there is one."""

from __future__ import annotations

from service.tasks.delivery_queue import CeleryWaker
from service.tasks.heartbeat import TRAINERS, live_workers
from service.tasks.names import QueueName, TaskName

# What is asked for stands in the database: the trainer looks there whenever it starts.
_EXPIRES_SECONDS = 600.0


class CeleryTrainerQueue(CeleryWaker):
    """Wakes the trainer; see `TrainerQueue`."""

    def __init__(self, valkey_url: str) -> None:
        super().__init__(
            valkey_url,
            queue=QueueName.RETRAIN,
            task=TaskName.RETRAIN,
            expires_seconds=_EXPIRES_SECONDS,
        )

    def is_heard(self) -> bool:
        """See `TrainerQueue.is_heard`."""
        return bool(live_workers(self._client, TRAINERS))
