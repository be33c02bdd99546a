"""Finds, in a SQL database, comments whose words are to be forgotten, and forgets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.case import SpamOnly
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.delivery import Delivery
from service.domain.sender import Person
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from service.stores.cursor import REST_RANK
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base.engine import reading
from service.stores.sql.base.statements import rows_in
from service.stores.sql.base.store import SqlStore, transaction
from service.stores.sql.comments import personal_keys, withdraw_locked
from service.stores.sql.deliveries import insert_deliveries
from service.stores.sql.schema.tables import (
    comments,
    decisions,
    is_held_as_spam,
    is_kept_and_judged,
)


class PersonalDataStore(SqlStore):
    """Finds comments by what a person is known by, and old ones; both to be forgotten."""

    def find(self, person: Person, *, after: CommentId | None, limit: int) -> list[CommentId]:
        """Return the ids of a person's comments, ascending, those after `after` if it is given.

        They have the address, e-mail or name key of `person.sender`, its keys before the rotation
        too, or no key of a name and exactly the author's name `person.author_name`. Withdrawn
        ones are nobody's. Looks at every comment there is: nobody waits for it.
        """
        condition = _is_of(person)
        if condition is None:
            return []
        query = sa.select(comments.c.id).where(condition).order_by(comments.c.id).limit(limit)
        if after is not None:
            query = query.where(comments.c.id > after)
        return self._list(query, lambda row: row.id)

    def count_by_site(self, person: Person) -> Mapping[SiteId, int]:
        """Return how many comments of theirs `find` finds, by site; sites without any left out."""
        condition = _is_of(person)
        if condition is None:
            return {}
        query = (
            sa.select(comments.c.site_id, sa.func.count())
            .where(condition)
            .group_by(comments.c.site_id)
        )
        with reading(self._engine) as connection:
            return {SiteId(site_id): count for site_id, count in connection.execute(query)}

    def find_old(
        self, *, received_before: datetime, only: SpamOnly | None = None, limit: int
    ) -> list[CommentId]:
        """Return comments received before then whose words are still kept, in no order.

        Left out is what waits: for its verdict, or for a person.
        """
        # One outcome at a time, because the index knows their ages apart.
        queries = [_old(outcome, received_before) for outcome in Outcome]
        if only is SpamOnly.NOT_APPROVED:
            queries = [_old(Outcome.SPAM, received_before)]
        if only is SpamOnly.HELD:
            queries = [sa.select(comments.c.id).where(comments.c.received_at < received_before)]
        found: list[CommentId] = []
        with reading(self._engine) as connection:
            for query in queries:
                if len(found) == limit:
                    break
                query = query.where(*_CONDITIONS[only]).limit(limit - len(found))
                found += connection.scalars(query)
        return found

    @transaction
    def withdraw(
        self,
        tx: sa.Connection,
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
        withdrawn = _withdraw_all(tx, ids, at, only)
        insert_deliveries(tx, [one for one in deliveries if one.comment_id in withdrawn])
        if act is not None:
            insert_entries(tx, [act(len(withdrawn))])
        return len(withdrawn)


def _is_of(person: Person) -> sa.ColumnElement[bool] | None:
    known_by: list[sa.ColumnElement[bool]] = [
        comments.c[f"sender_{name}"].in_(keys)
        for name, keys in personal_keys(person.sender).items()
    ]
    if person.author_name is not None:
        known_by.append(
            comments.c.sender_name_key.is_(None) & (comments.c.author_name == person.author_name)
        )
    if not known_by:
        return None
    return sa.or_(*known_by) & comments.c.withdrawn_at.is_(None)


def _old(outcome: Outcome, received_before: datetime) -> sa.Select[tuple[CommentId]]:
    # Said and ordered as `ix_comments_age` has it, and nothing else: where much is old PostgreSQL
    # would otherwise begin with the oldest of all, and read past what was withdrawn before.
    key = (comments.c.outcome, comments.c.received_at)
    end = (sa.literal(outcome.value, key[0].type), sa.literal(received_before, key[1].type))
    return (
        sa.select(comments.c.id)
        .where(
            is_kept_and_judged,
            comments.c.outcome >= outcome.value,
            sa.tuple_(*key) < sa.tuple_(*end),
            comments.c.review_rank == REST_RANK,
        )
        .order_by(*key, comments.c.id)
    )


_is_approved = sa.exists().where(
    decisions.c.comment_id == comments.c.id,
    decisions.c.undone_at.is_(None),
    decisions.c.ruling == Ruling.APPROVE.value,
)
_CONDITIONS: dict[SpamOnly | None, list[sa.ColumnElement[bool]]] = {
    None: [],
    SpamOnly.NOT_APPROVED: [sa.not_(_is_approved)],
    SpamOnly.HELD: [is_held_as_spam],
}


def _withdraw_all(
    connection: sa.Connection, ids: Sequence[CommentId], at: datetime, only: SpamOnly | None
) -> list[CommentId]:
    # Sorted, so that two that withdraw the same ones lock them in the same order.
    query = (
        sa.select(comments.c.id)
        .where(comments.c.withdrawn_at.is_(None), *_CONDITIONS[only])
        .order_by(comments.c.id)
        .with_for_update(key_share=True)
    )
    rows = rows_in(connection, query, comments.c.id, sorted(set(ids)))
    locked: list[CommentId] = [row.id for row in rows]
    withdraw_locked(connection, locked, at)
    return locked
