"""What senders share, and the rings that were found by it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from service.campaigns.acts import Act
from service.domain.comment import CommentId, SiteId
from service.domain.history import Record
from service.domain.ring import KeptAct, RingFacts
from service.ports.campaigns import GroupStore


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedAct:
    """An act and its place among all acts, in the order they were judged in."""

    place: int
    act: Act


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRing:
    """A ring as it is now: its senders, and what ties them."""

    ring_id: str
    who: frozenset[str]
    ties: tuple[str, ...]


class RingStore(GroupStore, Protocol):
    """Keeps acts, which come with their verdicts, and which of them belong to one ring."""

    def place_before(self, most: int) -> int:
        """Return a place after which at most `most` acts follow."""

    def acts(self, *, after: int, limit: int) -> list[NumberedAct]:
        """Return acts after a place, in order.

        One that is being written meanwhile may come later with a lower place.
        """

    def ringed(self, who: Collection[str]) -> Mapping[str, str]:
        """Return those of these senders that are in a ring, and in which."""

    def place(self, rings: Sequence[PlacedRing]) -> int:
        """Let all acts of these senders belong to their ring; return how many do newly.

        Left out are acts that a moderator took out of that ring, and senders of whom nothing else
        was in it.
        """

    def release(self, who: Collection[str]) -> int:
        """Let these senders belong to no ring; return how many acts that were.

        A ring on which a decision is in force stays as it is.
        """

    def facts(self, ring_ids: Collection[str]) -> Mapping[str, RingFacts]:
        """Return what these rings are; those that have no members are left out."""

    def rulings_beside(self, who: Collection[str]) -> Mapping[str, Mapping[SiteId, Record]]:
        """Return for senders in a ring how people ruled on the comments of its other senders.

        A policy's decisions do not count, nor do those that were undone.
        """

    def kept_of(self, ids: Sequence[CommentId]) -> Mapping[CommentId, KeptAct]:
        """Return what is kept of these comments."""

    def prune(self, *, received_before: datetime, most: int, limit: int) -> int:
        """Forget acts that are as old, and of those in no ring all but the newest `most`.

        At most `limit` of each kind; return how many.
        """
