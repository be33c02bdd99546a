"""Says in one line that the queue cannot be used, and in another that it can again."""

from __future__ import annotations

import logging
import threading

from service.tasks.broker import causes, is_of_valkey, why_unusable

log = logging.getLogger(__name__)

# Who tells of a lost connection again and again, each time another task or try.
_TALKATIVE = (
    "celery.worker.consumer.consumer",
    "celery.worker.request",
    "kombu.asynchronous.hub",
    "kombu.asynchronous.timer",
)


class QueueNotice(logging.Filter):
    """Keeps in mind whether the queue could be used the last time; safe to share between threads.

    As a filter of Celery's lines it takes one about the lost queue for a sign of that.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._is_away = False

    def away(self, error: BaseException) -> None:
        """Note that the queue could not be used."""
        with self._lock:
            was_away, self._is_away = self._is_away, True
        if not was_away:
            log.warning(
                "the queue cannot be used, comments are kept and judged later",
                extra={"reason": why_unusable(error)},
            )

    def back(self) -> None:
        """Note that the queue could be used."""
        with self._lock:
            was_away, self._is_away = self._is_away, False
        if was_away:
            log.info("the queue can be used again")

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line of Celery's is worth having: while the queue is away none is."""
        given = record.args if isinstance(record.args, tuple) else ()
        raised = record.exc_info[1] if record.exc_info else None
        errors = (one for error in (raised, *given) for one in causes(error))
        lost = next(filter(is_of_valkey, errors), None)
        if lost is not None:
            self.away(lost)
        return not self._is_away


def speak_plainly(notice: QueueNotice) -> None:
    """Let this notice speak in place of Celery where the queue cannot be used."""
    for name in _TALKATIVE:
        logging.getLogger(name).addFilter(notice)


QUEUE_NOTICE = QueueNotice()
"""What this process knows of its one queue."""
