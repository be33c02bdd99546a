"""Counts attempts to judge, so that only those stay counted that ended their process."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.comment import CommentId
from service.ports.comments import Attempt
from service.ports.services import Services


class AttemptCount:
    """Counts an attempt before it begins, and takes it back if this process survived its end.

    Only the database knows of a death, so the count is durable before the attempt begins. What
    cannot be taken back, because the store is away, is remembered and taken back first of all when
    the next batch comes. If the process ends before that, the attempt stays counted.
    """

    def __init__(self) -> None:
        """Owe nothing."""
        self._owed: dict[CommentId, int] = {}

    def begin(self, attempts: Sequence[Attempt], services: Services) -> None:
        """Count one more attempt at each comment. Raises `StoreUnavailableError`.

        If it raises, it may have been counted all the same: take it back.
        """
        services.comments.count_attempt([a.comment.id for a in attempts])

    def take_back(self, attempts: Sequence[Attempt], services: Services) -> None:
        """Let the counts be what they were before this attempt. Raises `StoreUnavailableError`."""
        self._owed.update((a.comment.id, a.attempts) for a in attempts)
        self.settle(services)

    def settle(self, services: Services) -> None:
        """Take back what could not be taken back before. Raises `StoreUnavailableError`."""
        if self._owed:
            services.comments.lower_attempts(self._owed)
            self._owed.clear()
