"""What other cutoffs would have made of the comments that a site had."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.verdict import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Comments that were concluded one way and would be another, or the same.

    `approved` and `rejected` are those of them that a moderator has ruled on so.
    """

    was: Outcome
    becomes: Outcome
    comments: int
    approved: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoffPreview:
    """All comments of a period of time that have a verdict, by what was and would be concluded.

    Degraded verdicts stay unsure whatever the cutoffs. Each pair of outcomes comes once at most.
    """

    moved: tuple[Moved, ...] = ()

    @property
    def judged(self) -> int:
        """Return how many comments were looked at."""
        return sum(one.comments for one in self.moved)

    def were(self, outcome: Outcome) -> int:
        """Return how many were concluded to be this."""
        return sum(one.comments for one in self.moved if one.was is outcome)

    def would_be(self, outcome: Outcome) -> int:
        """Return how many would be concluded to be this."""
        return sum(one.comments for one in self.moved if one.becomes is outcome)

    def changed(self) -> tuple[Moved, ...]:
        """Return those whose outcome would be another."""
        return tuple(one for one in self.moved if one.was is not one.becomes)

    @property
    def ham_called_spam(self) -> int:
        """Return how many that moderators approved would be called spam: the costly mistake."""
        return sum(one.approved for one in self.moved if one.becomes is Outcome.SPAM)

    @property
    def spam_called_ham(self) -> int:
        """Return how many that moderators rejected would be called ham."""
        return sum(one.rejected for one in self.moved if one.becomes is Outcome.HAM)

    @property
    def approved_held(self) -> int:
        """Return how many that moderators approved would be left to a person."""
        return sum(one.approved for one in self.moved if one.becomes is Outcome.UNSURE)
