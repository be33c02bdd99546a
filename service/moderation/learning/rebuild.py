"""Fills histories again from the decisions in the database.

Needed after the histories' server lost its data. A portion at a time: between two portions the
place lies beside the histories, on the same server, so that whatever wipes the one wipes the other
and the rebuild begins anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from service.domain.comment import Comment
from service.domain.errors import HistoryBlankError
from service.domain.history import History
from service.moderation.learning.remember import apply_to_reputation, forget_erased
from service.ports.services import Services

log = logging.getLogger(__name__)

# A decision takes 0.3 to 0.5 ms to be learnt, a portion about a tenth of a second.
PORTION = 250


def gather_whole(comments: Sequence[Comment], services: Services) -> list[History]:
    """Return the history of each comment, in order, in one round trip.

    Raises `HistoryBlankError` where histories were lost and are not filled again: what they say
    then is half a story. A new installation's are blank too, but no decision is missing from
    them. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    try:
        return services.history.gather(comments, now=now, only_filled=True)
    except HistoryBlankError:
        if services.decisions.find_in_force(after=0, limit=1).decided_comments:
            raise
    return services.history.gather(comments, now=now)


def rebuild_if_blank(services: Services, *, goes_on: Callable[[], bool]) -> bool:
    """Do a portion of a rebuild, and more while `goes_on`, if histories are blank.

    Return whether they were. Safe to run at any time and by several at once. Raises
    `StoreUnavailableError`.
    """
    if not services.history.is_blank():
        return False
    for _ in rebuild_portions(services):
        if not goes_on():
            break
    return True


def rebuild_all(services: Services, *, show: Callable[[int], None] = lambda _: None) -> int:
    """Learn every decision in force and return how many were read; `show` is told as it goes.

    An interrupted rebuild is gone on with. What is known already is not counted twice, and what is
    decided or undone meanwhile is not lost. Raises `StoreUnavailableError`.
    """
    done = 0
    for decisions in rebuild_portions(services):
        done += decisions
        show(done)
    return done


def rebuild_portions(services: Services) -> Iterator[int]:
    """Learn the decisions in force by portions, yield each one's number, mark histories filled.

    A decision made or undone meanwhile is told to histories by whoever makes it, see
    `service.moderation.learning.remember`: taken back here too late, it stays taken back. If
    another process has been faster, or the server was wiped since the portion began, the next one
    goes on from where the place then is. Raises `StoreUnavailableError`.
    """
    while True:
        after = services.rebuild_place.find()
        page = services.decisions.find_in_force(after=after, limit=PORTION)
        for decided_comment in page.decided_comments:
            apply_to_reputation(decided_comment, services)
        forget_erased([one.comment for one in page.decided_comments], services)
        if page.next_after is not None:
            services.rebuild_place.move(after, page.next_after)
        # Where the place is gone or moved, something was wiped or is under way: not all is filled.
        elif services.rebuild_place.clear(after):
            services.history.mark_filled()
            log.info("histories are filled")
            return
        yield len(page.decided_comments)
