"""Waits a while for verdicts, without ever taking every thread of the server."""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Sequence

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.errors import StoreUnavailableError
from service.web.edge.admission import Admission

log = logging.getLogger(__name__)

# Most verdicts take some tens of milliseconds; one statement asks for all that are awaited.
_LOOK_EVERY_SECONDS = 0.01
# Whoever has waited this long has no use for the last millisecond.
_PATIENT_AFTER_SECONDS = 1.0
_LOOK_SELDOM_SECONDS = 0.05
# How many comments may be in line for each request that may wait: some are still being kept, some
# are waited for no more.
_LINE_SHARE = 2


class _Slot:
    """One request that waits for one verdict."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.case: Case | None = None
        self.judged = threading.Event()


class VerdictWaiter:
    """Lets a bounded number of requests wait for verdicts at once, with one look for them all.

    `find_judged` returns those of the ids' cases that have their verdict. While anybody waits, one
    thread asks it: were every request to ask for itself, waiting would cost more than judging.
    `monotonic` is the clock by which is judged who can be in time.
    """

    def __init__(
        self,
        find_judged: Callable[[Sequence[CommentId]], Sequence[Case]],
        *,
        max_waiting: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find_judged = find_judged
        self._max_waiting = max(1, max_waiting)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._admission = Admission(most=_LINE_SHARE * self._max_waiting)
        self._slots: dict[CommentId, list[_Slot]] = {}
        self._waiting = 0
        self._looker: threading.Thread | None = None

    def join(self, comment_id: CommentId, site_id: SiteId, *, seconds: float) -> bool:
        """Return True if a site's comment queued now can be judged within `seconds`.

        If so it counts as one that later ones come behind, until it has its verdict: also after
        nobody waits for it any more. If not, it had better not stand in the way of those that can.
        """
        with self._lock:
            now = self._monotonic()
            full = self._waiting >= self._max_waiting
            if full or not self._admission.has_room(site_id, seconds=seconds, now=now):
                self._admission.pass_by()
                return False
            self._admission.join(comment_id, site_id, seconds=seconds, now=now)
            # Nobody may wait for it, and still others come behind it until it has its verdict.
            self._look_on()
        return True

    def refuse(self, site_id: SiteId, *, seconds: float) -> int | None:
        """Return after how many seconds to come again with what can't be taken now, else None.

        That is a comment that can neither be judged within `seconds` nor be kept for later.
        """
        with self._lock:
            now = self._monotonic()
            retry_after = self._admission.refuse(site_id, seconds=seconds, now=now)
        if retry_after is None:
            return None
        # Not all at the same moment.
        return math.ceil(retry_after * random.uniform(0.5, 1.5))  # noqa: S311  # no secret

    def is_full(self, requests: int) -> bool:
        """Return True if a comment could not have its verdict in time behind so many requests."""
        with self._lock:
            return self._admission.is_full(requests)

    def leave(self, comment_id: CommentId) -> None:
        """Forget one that joined and was not queued after all."""
        with self._lock:
            self._admission.forget(comment_id)

    def for_verdict(self, comment_id: CommentId, *, seconds: float) -> Case | None:
        """Return the case once it has a verdict, None if it has none when the time is over.

        Where too many wait already, or no thread can be had to look for verdicts, that is at once.
        """
        slot = self._take_slot(comment_id) if seconds > 0 else None
        if slot is None:
            return None
        try:
            slot.judged.wait(seconds)
        finally:
            self._free_slot(comment_id, slot)
        return slot.case

    def _take_slot(self, comment_id: CommentId) -> _Slot | None:
        slot = _Slot()
        with self._lock:
            if self._waiting >= self._max_waiting or not self._look_on():
                return None
            self._waiting += 1
            self._slots.setdefault(comment_id, []).append(slot)
        return slot

    def _free_slot(self, comment_id: CommentId, slot: _Slot) -> None:
        with self._lock:
            self._waiting -= 1
            slots = self._slots.get(comment_id, [])
            if slot in slots:
                slots.remove(slot)
            if not slots:
                self._slots.pop(comment_id, None)

    def _look_on(self) -> bool:
        """Let a thread look, with the lock held, unless one does; return whether one looks now."""
        if self._looker is not None and self._looker.is_alive():
            return True
        looker = threading.Thread(target=self._look, name="verdicts", daemon=True)
        try:
            looker.start()
        except RuntimeError:
            # The system has no thread to spare; whoever comes next tries again.
            log.warning("no thread looks for verdicts, nobody can wait for one now")
            return False
        self._looker = looker
        return True

    def _look(self) -> None:
        """Look for verdicts until none is awaited any more."""
        while True:
            with self._lock:
                # Those that nobody waits for any more are looked for too: the line moves with them.
                unjudged = self._admission.unjudged(now=self._monotonic())
                ids = list(dict.fromkeys([*self._slots, *unjudged]))
                if not ids:
                    self._looker = None
                    return
                since = [slot.since for slots in self._slots.values() for slot in slots]
            found = self._ask(ids)
            if found is None and not since:
                # Whoever comes next looks again; nobody is kept waiting by a store that is away.
                with self._lock:
                    if not self._slots:
                        self._looker = None
                        return
            self._hand_out(found or ())
            patient = time.monotonic() - max(since, default=0.0) > _PATIENT_AFTER_SECONDS
            time.sleep(_LOOK_SELDOM_SECONDS if patient else _LOOK_EVERY_SECONDS)

    def _ask(self, ids: Sequence[CommentId]) -> Sequence[Case] | None:
        """Return what has its verdict, None if that cannot be told now."""
        try:
            return self._find_judged(ids)
        except StoreUnavailableError:
            return None
        except Exception:  # whoever waits must be looked for, come what may
            log.exception("looking for verdicts failed")
            return None

    def _hand_out(self, cases: Sequence[Case]) -> None:
        with self._lock:
            now = self._monotonic()
            for case in cases:
                self._admission.leave(case.comment.id, now=now)
                for slot in self._slots.pop(case.comment.id, ()):
                    slot.case = case
                    slot.judged.set()
