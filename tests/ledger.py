"""Counters in memory, by the rules that Valkey keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from service.domain.comment import Comment, CommentId, Sender
from service.domain.decision import Ruling
from service.domain.sender import Conduct, History
from service.reputation.conduct import Fields, conduct_from, steps_of
from service.reputation.histories import LETTERS, Counter, fading_of, gather_histories
from service.reputation.names import (
    all_names_of_account,
    names_of,
    names_of_accounts,
    names_of_person,
    owners_of,
)


class Ledger:
    """The counters of every name, counted one comment and one decision at a time.

    It only knows what it was told and the time it is told; it forgets nothing by itself, but what
    has faded does not count. Not safe under concurrent calls.
    """

    def __init__(self) -> None:
        self._counters: defaultdict[str, Counter] = defaultdict(Counter)
        self._seen: dict[CommentId, datetime] = {}
        self._conducts: defaultdict[str, Fields] = defaultdict(dict)
        # The accounts of a person, by the person's e-mail and name.
        self._owned: defaultdict[str, set[str]] = defaultdict(set)

    def gather(self, comments: Sequence[Comment], *, now: datetime) -> list[History]:
        """Return the history of each comment, in order, and count each comment's first sighting.

        Earlier comments of the batch count for the later ones; no comment counts for itself.
        """
        histories: list[History] = []
        for comment in comments:
            own, names = self._seen.get(comment.id), names_of(comment)
            for account in names.accounts()[:1] if own is None else ():
                for owner in owners_of(comment.sender):
                    self._owned[owner].add(account)
            histories += gather_histories(
                [names],
                self._counters,
                seen_before=[own],
                now=now,
                steps=[steps_of(comment, now=now) if names.accounts() else None],
                conducts={name: self._conducts[name] for name in names.accounts()},
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
        accounts = self._accounts_of(sender)
        of_accounts = [name for account in accounts for name in all_names_of_account(account)]
        for person in (*names_of_person(sender), *of_accounts):
            for name in [n for n in self._counters if n == person or n.startswith(f"{person}@")]:
                del self._counters[name]
            self._owned.pop(person, None)
        for account in accounts:
            self._conducts.pop(account, None)

    def conducts(self, sender: Sender, *, now: datetime) -> dict[str, Conduct]:
        kept = {name: self._conducts.get(name, {}) for name in self._accounts_of(sender)}
        found = {name: conduct_from([fields], now=now) for name, fields in sorted(kept.items())}
        return {name: conduct for name, conduct in found.items() if conduct is not None}

    def _accounts_of(self, sender: Sender) -> set[str]:
        known = (sender, sender.before_rotation or Sender())
        owned = (self._owned.get(owner, set()) for one in known for owner in owners_of(one))
        return set(names_of_accounts(sender)).union(*owned)

    def _count(self, comment: Comment, ruling: Ruling, at: datetime, step: int) -> None:
        for kind, name in names_of(comment).written():
            decisions = self._counters[name].decisions
            field = f"{LETTERS[ruling]}:{fading_of(kind).number_of(at)}"
            decisions[field] = decisions.get(field, 0) + step
            if decisions[field] <= 0:
                del decisions[field]
