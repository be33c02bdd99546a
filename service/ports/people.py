"""Accounts, their sessions and second factors; what is held about a person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.domain.comment import CommentId, SiteId
from service.domain.delivery import Delivery
from service.domain.person import Person
from service.domain.sign_in import SecondFactor, UserSession
from service.domain.user import User
from service.ports.audit import AuditEntry


class UserStore(Protocol):
    """Keeps moderators' accounts."""

    def add(self, user: User, *, act: AuditEntry | None = None) -> None:
        """Keep an account and the log's entry. Raise `ConflictError` if its name is taken."""

    def replace(self, user: User) -> None:
        """Replace the account with this id. Raise `NotFoundError` for an unknown one."""

    def change(
        self,
        user_id: str,
        how: Callable[[User, Sequence[User]], User],
        *,
        end_sessions_at: datetime | None = None,
        act: AuditEntry | None = None,
    ) -> User:
        """Replace an account by what `how` makes of it in view of all accounts, and return that.

        With `end_sessions_at` all its sessions end in the same transaction, which keeps `act`, too.

        No other change of any account happens in between, so what `how` saw is still so when its
        answer is kept. It may be called more than once; what it raises is raised, and nothing is
        changed then. Raise `NotFoundError` for an unknown account.
        """

    def get(self, user_id: str) -> User | None:
        """Return an account by id."""

    def find(self, name: str) -> User | None:
        """Return an account by name, without regard to case."""

    def all(self) -> list[User]:
        """Return all accounts, by name."""


class SessionStore(Protocol):
    """Keeps who is signed in, where."""

    def add(self, session: UserSession) -> None:
        """Keep a session that begins. Raise `NotFoundError` for an unknown account."""

    def get(self, session_id: str) -> UserSession | None:
        """Return a session, ended or not."""

    def touch(self, session_id: str, *, at: datetime) -> None:
        """Remember that a session was used; harmless for an unknown one."""

    def end(self, session_id: str, *, user_id: str, at: datetime) -> bool:
        """End one session of this account; return whether that was still to be done."""

    def end_all(
        self,
        user_id: str,
        *,
        at: datetime,
        except_session: str | None = None,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> int:
        """End every session of an account, all but one if it is named; return how many.

        If there were any, `act` returns the log's entry of so many.
        """

    def open_of(self, user_id: str) -> list[UserSession]:
        """Return an account's sessions that were not ended, the one used last first."""

    def last_seen(self) -> Mapping[str, datetime]:
        """Return when each account was last seen, by its id; who never was is left out."""

    def prune(self, *, seen_before: datetime, limit: int) -> int:
        """Delete at most `limit` sessions last used before then; return how many."""


class SecondFactorStore(Protocol):
    """Keeps second factors, at most one an account, and what stands in for a lost one."""

    def put(
        self,
        factor: SecondFactor,
        *,
        recovery_digests: Collection[str],
        act: AuditEntry | None = None,
    ) -> None:
        """Keep an account's second factor and its recovery codes in place of earlier ones.

        The log's entry is kept in the same transaction. Raise `NotFoundError` for an unknown
        account.
        """

    def get(self, user_id: str) -> SecondFactor | None:
        """Return an account's second factor, None if it has none."""

    def user_ids(self) -> frozenset[str]:
        """Return the ids of all accounts that have one."""

    def use_step(self, user_id: str, step: int) -> bool:
        """Say that the code of this time step was used; False if it, or a later one, was before.

        Of several calls at once with one step, one returns True.
        """

    def use_recovery(
        self, user_id: str, digest: str, *, act: Callable[[int], AuditEntry] | None = None
    ) -> bool:
        """Strike a recovery code off; False if there is none such.

        Of several calls at once with one code, one returns True. `act` returns the log's entry for
        so many codes left.
        """

    def count_recovery(self, user_id: str) -> int:
        """Return how many recovery codes are left."""

    def remove(self, user_id: str, *, act: AuditEntry | None = None) -> bool:
        """Forget an account's second factor and its codes; return whether there was one.

        If so, the log's entry is kept in the same transaction.
        """


class SpamOnly(StrEnum):
    """Which spam to look for: all that no decision in force approves, or what is held as spam."""

    NOT_APPROVED = "not approved"
    HELD = "held"


class PersonalDataStore(Protocol):
    """Finds comments by what a person is known by, and old ones; both to be forgotten."""

    def find(self, person: Person, *, after: CommentId | None, limit: int) -> list[CommentId]:
        """Return the ids of a person's comments, ascending, those after `after` if it is given.

        They have the address, e-mail or name key of `person.sender`, its keys before the rotation
        too, or no key of a name and exactly the author's name `person.author_name`. Withdrawn
        ones are nobody's. Looks at every comment there is: nobody waits for it.
        """

    def count_by_site(self, person: Person) -> Mapping[SiteId, int]:
        """Return how many comments of theirs `find` finds, by site; sites without any left out."""

    def find_old(
        self, *, received_before: datetime, only: SpamOnly | None = None, limit: int
    ) -> list[CommentId]:
        """Return comments received before then whose words are still kept, in no order.

        Left out is what waits: for its verdict, or for a person.
        """

    def withdraw(
        self,
        ids: Sequence[CommentId],
        *,
        at: datetime,
        act: Callable[[int], AuditEntry] | None = None,
        deliveries: Sequence[Delivery] = (),
        only: SpamOnly | None = None,
    ) -> int:
        """Withdraw these comments as `CommentStore.withdraw` does, in one transaction.

        Return how many were not withdrawn before; left out are unknown ones, and those that are
        not `only` what was looked for any more. `deliveries` on those withdrawn now are kept in
        the same transaction. `act` returns the
        log's entry of so many, which is kept in the same transaction, of none of them too.
        """


class PasswordHasher(Protocol):
    """Turns passwords into slow, salted hashes."""

    def hash(self, password: str) -> str:
        """Return a salted hash that is slow to guess from."""

    def verify(self, password_hash: str, password: str) -> bool:
        """Return True if the password matches this hash."""
