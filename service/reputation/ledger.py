"""Keeps counters in memory: for tests, and to work out histories from a file of comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from service.domain.comment import Comment, CommentId, Sender
from service.domain.decision import Ruling
from service.domain.history import History
from service.reputation.decay import Counter, decision_field
from service.reputation.gathering import gather_histories
from service.reputation.names import names_of, names_of_person


class Ledger:
    """The counters of every name, counted one comment and one decision at a time.

    It only knows what it was told and the time it is told; it forgets nothing by itself, but what
    has faded does not count. Not safe under concurrent calls.
    """

    def __init__(self) -> None:
        self._counters: defaultdict[str, Counter] = defaultdict(Counter)
        self._seen: dict[CommentId, datetime] = {}

    def gather(self, comments: Sequence[Comment], *, now: datetime) -> list[History]:
        """Return the history of each comment, in order, and count each comment's first sighting.

        Earlier comments of the batch count for the later ones; no comment counts for itself.
        """
        histories: list[History] = []
        for comment in comments:
            own = self._seen.get(comment.id)
            histories += gather_histories(
                [names_of(comment)], self._counters, seen_before=[own], now=now
            )
            self._seen.setdefault(comment.id, now)
        return histories

    def learn(self, comment: Comment, ruling: Ruling, *, at: datetime) -> None:
        """Count a decision that was made at this moment."""
        self._count(comment, ruling, at, 1)

    def unlearn(self, comment: Comment, ruling: Ruling, *, at: datetime) -> None:
        """Take back what `learn` with the same values has counted."""
        self._count(comment, ruling, at, -1)

    def forget(self, sender: Sender) -> None:
        """Drop the records that are this person's; see `names_of_person`."""
        for person in names_of_person(sender):
            for name in [n for n in self._counters if n == person or n.startswith(f"{person}@")]:
                del self._counters[name]

    def _count(self, comment: Comment, ruling: Ruling, at: datetime, step: int) -> None:
        for kind, name in names_of(comment).written():
            decisions = self._counters[name].decisions
            field = decision_field(kind, ruling, at)
            decisions[field] = decisions.get(field, 0) + step
            if decisions[field] <= 0:
                del decisions[field]
