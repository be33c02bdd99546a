"""The remedies for a store that cannot be used, the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.errors import StoreDamagedError, StoreFullError, StoreUnavailableError

MAKE_ROOM = (
    "Make room on its disk, and bound what is kept: SLOPSIEVE_KEEP_COMMENTS_DAYS, "
    "SLOPSIEVE_KEEP_SPAM_DAYS."
)
RESTORE = "Stop everything, and slopsieve restore the last backup into an empty data folder."
_DATABASE: Mapping[type[StoreUnavailableError], str] = {
    StoreFullError: MAKE_ROOM,
    StoreDamagedError: RESTORE,
}
_QUEUE: Mapping[type[StoreUnavailableError], str] = {
    StoreFullError: "Make room on Valkey's disk, or raise its maxmemory; what was kept is not lost."
}


def for_database(error: StoreUnavailableError) -> str:
    """Return what to do about a database that raised this."""
    return _DATABASE.get(type(error), "See that it runs, is named rightly, and may be written.")


def for_queue(error: StoreUnavailableError) -> str:
    """Return what to do about a queue that raised this."""
    return _QUEUE.get(
        type(error), "See that Valkey runs; comments are kept meanwhile and judged later."
    )
