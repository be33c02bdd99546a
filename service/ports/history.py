"""What is known of senders: records, histories, lists of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.domain.comment import Comment, Sender
from service.domain.decision import Ruling
from service.domain.history import Conduct, History


class HistoryStore(Protocol):
    """Remembers decisions, and sightings apart from them. Only decisions teach it."""

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """Return the history of each comment, in order, in one round trip for all.

        The first time a comment's id is gathered it is counted as seen at `now`. The earlier
        comments of a batch are seen by the later ones; no comment is its own earlier sighting,
        however often it is gathered. What its account did counts the same way. A store
        that takes no writes now, or is nearly full, gathers
        all the same and counts no sighting. With `only_filled` raise `HistoryBlankError` while
        `is_blank`.
        """

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Count a decision made at `at` once; a repeat of the same `decision_id` changes nothing.

        The order in which decisions are learnt never matters. Return whether it was counted now.
        """

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Take a counted decision back exactly; harmless if it is not counted.

        What is taken back is the ruling and the moment that were learnt. It is never counted
        again afterwards, so a delayed repeat of `learn` does no harm. Return whether it was taken
        back now.
        """

    def forget(self, sender: Sender) -> None:
        """Drop the records of this address, e-mail, name and account at all sites, older keys' too.

        With them go the accounts that comments with this e-mail or name came from. Networks,
        systems and domains stay: they are others' too.
        """

    def conducts(self, sender: Sender, *, now: datetime) -> Mapping[str, Conduct]:
        """Return what the accounts that `forget` would drop did, by a name of each account."""

    def is_blank(self) -> bool:
        """Return True if the store is new or was wiped: `mark_filled` was never called."""

    def mark_filled(self) -> None:
        """Remember, for as long as anything is kept, that all past decisions have been learnt."""
