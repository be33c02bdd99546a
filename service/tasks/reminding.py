"""The task that reminds moderators, beside the deliveries of the same process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from celery import Celery

from service.domain.errors import StoreUnavailableError
from service.tasks.names import TaskName

log = logging.getLogger(__name__)


def register_reminding(app: Celery, dispatch: Callable[[], object]) -> None:
    """Teach this app's workers to remind; the message is done with at once."""

    @app.task(name=TaskName.REMIND.value, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def remind() -> None:
        dispatch()


class ReminderThread:
    """Runs `remind` once at a time, beside what takes messages: a mail server may take minutes."""

    def __init__(self, remind: Callable[[], object]) -> None:
        self._remind = remind
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="reminders")
        self._busy = threading.Lock()

    def dispatch(self) -> None:
        """Look now; harmless while it is at it already."""
        if self._busy.acquire(blocking=False):
            self._pool.submit(self._run)

    def close(self) -> None:
        """Start no more; what is under way ends by itself, within its times."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        try:
            self._remind()
        except StoreUnavailableError:
            log.warning("stores are away, reminders wait")
        except Exception as error:  # noqa: BLE001  # the next look may fare better
            log.error("reminding failed", extra={"error": type(error).__name__})  # noqa: TRY400  # a traceback could carry comments
        finally:
            self._busy.release()
