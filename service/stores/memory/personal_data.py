"""Finds, in memory, comments whose words are to be forgotten; see `memory.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.person import Person
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from service.stores.personal_keys import personal_keys


class _Withdraw(Protocol):
    def __call__(self, comment_id: CommentId, *, at: datetime) -> None: ...


class MemoryPersonalDataStore:
    """Finds and forgets comments in memory; see `PersonalDataStore`."""

    def __init__(
        self, cases: Callable[[], list[Case]], withdraw: _Withdraw, audit_log: list[AuditEntry]
    ) -> None:
        self._cases = cases
        self._audit_log = audit_log
        self._withdraw = withdraw

    def find(self, person: Person, *, after: CommentId | None, limit: int) -> list[CommentId]:
        """See `PersonalDataStore.find`."""
        ids = sorted(case.comment.id for case in self._of(person))
        return [found for found in ids if after is None or found > after][:limit]

    def count_by_site(self, person: Person) -> Mapping[SiteId, int]:
        """See `PersonalDataStore.count_by_site`."""
        return Counter(case.comment.site_id for case in self._of(person))

    def _of(self, person: Person) -> list[Case]:
        return [c for c in self._cases() if c.withdrawn_at is None and _is_of(c, person)]

    def find_old(
        self, *, received_before: datetime, spam_only: bool, limit: int
    ) -> list[CommentId]:
        """See `PersonalDataStore.find_old`."""
        return [
            case.comment.id
            for case in self._cases()
            if case.comment.received_at < received_before
            and _is_done_with(case)
            and (not spam_only or _is_spam(case))
        ][:limit]

    def withdraw(
        self,
        ids: Sequence[CommentId],
        *,
        at: datetime,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> int:
        """See `PersonalDataStore.withdraw`."""
        still_kept = {c.comment.id for c in self._cases() if c.withdrawn_at is None}
        wanted = still_kept.intersection(ids)
        for comment_id in wanted:
            self._withdraw(comment_id, at=at)
        self._audit_log.extend([act(len(wanted))] if act else [])
        return len(wanted)


def _is_of(case: Case, person: Person) -> bool:
    sender = case.comment.sender
    if any(getattr(sender, name) in keys for name, keys in personal_keys(person.sender).items()):
        return True
    named = person.author_name is not None and sender.name_key is None
    return named and case.comment.author.name == person.author_name


def _is_done_with(case: Case) -> bool:
    return case.verdict is not None and case.withdrawn_at is None and not case.needs_review


def _is_spam(case: Case) -> bool:
    approved = case.decision is not None and case.decision.ruling is Ruling.APPROVE
    return case.verdict is not None and case.verdict.outcome is Outcome.SPAM and not approved
