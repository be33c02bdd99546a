"""Finds, in a SQL database, comments whose words are to be forgotten, and forgets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa

from service.domain.case import SpamOnly
from service.domain.comment import Comment, CommentId, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.delivery import Delivery
from service.domain.sender import Person
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from service.stores.cursor import REST_RANK
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base import SqlStore, execute_in, rows_in, transaction
from service.stores.sql.campaigns import delete_traits
from service.stores.sql.deliveries import insert_deliveries
from service.stores.sql.engine import reading
from service.stores.sql.rows import sender_values, sent_values
from service.stores.sql.search import leave_out
from service.stores.sql.tables import (
    audit_log,
    comments,
    decisions,
    is_held_as_spam,
    is_in_force,
    is_kept_and_judged,
)

# What withdrawing leaves of what the site sent. The excerpt goes, as it may quote other people.
_LEFT = frozenset(
    {"site_comment_id", "written_at", "language", "reply_to", "post_url", "post_title", "kind"}
)
_NOBODYS = Comment(id=CommentId("-"), site_id=SiteId("-"), text="", received_at=datetime.now(UTC))
_BLANK = {
    **{name: value for name, value in sent_values(_NOBODYS).items() if name not in _LEFT},
    "content_key": None,
    "review_rank": REST_RANK,
    "campaign_id": None,
    "second_opinion": None,
    "appeal": None,
    "appealed_at": None,
}


class PersonalDataStore(SqlStore):
    """Finds comments by what a person is known by, and old ones; both to be forgotten."""

    def find(self, person: Person, *, after: CommentId | None, limit: int) -> list[CommentId]:
        """Return the ids of a person's comments, ascending, those after `after` if it is given.

        They have an address, e-mail or name key of `person.sender`, from before the rotation too,
        or exactly the name `person.author_name`. Withdrawn ones are left out. Reads every comment.
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
        return {SiteId(site_id): count for site_id, count in self._rows(query)}

    def find_old(
        self, *, received_before: datetime, only: SpamOnly | None = None, limit: int
    ) -> list[CommentId]:
        """Return comments received before then whose words are still kept, in no order.

        Left out is what waits for its verdict or for a person. With `only` a comment is no older
        than the last undoing of a decision on it, with HELD also than its site's present mode.
        """
        # One outcome at a time, because the index has their ages apart.
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
                if only is not None:
                    undone_since = sa.exists().where(
                        decisions.c.comment_id == comments.c.id,
                        decisions.c.undone_at >= received_before,
                    )
                    query = query.where(sa.not_(undone_since))
                if only is SpamOnly.HELD:
                    # Whose mode was changed since, as the log says.
                    changed = sa.select(audit_log.c.subject).where(
                        audit_log.c.act == "change settings",
                        audit_log.c.at >= received_before,
                        audit_log.c.detail.startswith("mode: "),
                    )
                    query = query.where(comments.c.site_id.not_in(changed))
                found += connection.scalars(query)
        return found

    @transaction
    def withdraw(
        self,
        tx: sa.Connection,
        ids: Sequence[CommentId],
        *,
        at: datetime,
        act: Callable[[int], AuditEntry | None] | None = None,
        deliveries: Sequence[Delivery] = (),
        only: SpamOnly | None = None,
    ) -> int:
        """Blank these comments' words, names and senders; return how many were withdrawn now.

        The text, author, sender's keys, user agent, excerpt, traits, appeal and moderators' notes
        go, and the comment leaves its campaign and all queues. Verdict, decisions and log stay, so
        that figures stay true, and so do the digests: sending it again is a REPEAT.

        Those that do not match `only` any more are left out. `deliveries` of the others are kept in
        the same transaction, and so is what `act`, called for 0 too, returns for their number.
        """
        # Sorted, so that two calls with the same ids lock them in the same order.
        query = (
            sa.select(comments.c.id)
            .where(comments.c.withdrawn_at.is_(None), *_CONDITIONS[only])
            .order_by(comments.c.id)
            .with_for_update(key_share=True)
        )
        rows = rows_in(tx, query, comments.c.id, sorted(set(ids)))
        withdrawn: list[CommentId] = [row.id for row in rows]
        blank = sa.update(comments).values(**_BLANK, withdrawn_at=at)
        execute_in(tx, blank, comments.c.id, withdrawn)
        # A moderator's note may name the person, or quote them.
        unnote = sa.update(decisions).where(decisions.c.note.is_not(None)).values(note=None)
        execute_in(tx, unnote, decisions.c.comment_id, withdrawn)
        leave_out(tx, withdrawn)
        delete_traits(tx, withdrawn)
        insert_deliveries(tx, [one for one in deliveries if one.comment_id in withdrawn])
        insert_entry(tx, act(len(withdrawn)) if act else None)
        return len(withdrawn)

    @transaction
    def erase_senders(
        self, tx: sa.Connection, ids: Sequence[CommentId], *, act: AuditEntry | None = None
    ) -> None:
        """Set the comments' sender to `Sender()` and delete their traits; the rest stays."""
        # Sorted, so that two calls with the same ids lock them in the same order.
        wanted = sorted(set(ids))
        update = sa.update(comments).values(**sender_values(Sender()))
        execute_in(tx, update, comments.c.id, wanted)
        delete_traits(tx, wanted)
        insert_entry(tx, act)


def _is_of(person: Person) -> sa.ColumnElement[bool] | None:
    known_by: list[sa.ColumnElement[bool]] = []
    # Left out is what others share: network, autonomous system and mail domain.
    for name in ("address_key", "email_key", "name_key"):
        of_all = (getattr(one, name) for one in person.sender.generations)
        keys = [key for key in of_all if key is not None]
        if keys:
            known_by.append(comments.c[f"sender_{name}"].in_(keys))
    if person.author_name is not None:
        known_by.append(comments.c.author_name == person.author_name)
    if not known_by:
        return None
    return sa.or_(*known_by) & comments.c.withdrawn_at.is_(None)


def _old(outcome: Outcome, received_before: datetime) -> sa.Select[tuple[CommentId]]:
    # As `ix_comments_age` has it: otherwise PostgreSQL may begin with the oldest of all, and read
    # past what was withdrawn before.
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


_is_approved = sa.exists().where(is_in_force, decisions.c.ruling == Ruling.APPROVE.value)
_CONDITIONS: dict[SpamOnly | None, list[sa.ColumnElement[bool]]] = {
    None: [],
    SpamOnly.NOT_APPROVED: [sa.not_(_is_approved)],
    SpamOnly.HELD: [is_held_as_spam],
}
