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

# What withdrawing leaves of what the site sent: it says which comment it was. The excerpt goes, as
# it only served the verdict and may quote other people.
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

        They have the address, e-mail or name key of `person.sender`, its keys before the rotation
        too, or exactly the author's name `person.author_name`: it may have no key, or that of a
        secret before. Withdrawn ones are nobody's. Looks at every comment: nobody waits for it.
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

        Left out is what waits: for its verdict, or for a person. Spam is as old as the undoing of
        the last decision on it, and what is held as its site's mode, if those are younger: until
        then it was published, or somebody's to keep.
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
                if only is not None:
                    query = query.where(sa.not_(_was_decided_since(received_before)))
                if only is SpamOnly.HELD:
                    query = query.where(comments.c.site_id.not_in(_of_other_mode(received_before)))
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
        """Blank these comments' words, names and senders, and take them off all queues.

        Gone are the text, the author, the sender's keys, the user agent, the post's excerpt, the
        comment's traits, its author's appeal and what moderators noted of it, and it leaves its
        campaign. Verdict, decisions and log stay, so that figures stay true, and so do the keys by
        which a repeat is recognised: sending it again is a REPEAT. A withdrawn comment is never
        judged, swept, counted as pending or listed for review.

        Return how many were not withdrawn before; left out are unknown ones, and those that are
        not `only` what was looked for any more. `deliveries` on those withdrawn now are kept in
        the same transaction, and so is the log's entry that `act` returns of so many, if any; it
        is asked of none too.
        """
        # Sorted, so that two that withdraw the same ones lock them in the same order.
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
        """Take all that is known of their senders off these comments; `Sender()` is left.

        The comment's own words and names stay, and so does its `fingerprint`, by which repeats
        are known. Its traits, by which it could be told to be like others, go as well. All of it
        is one transaction, in which `act` is kept too.
        """
        # Sorted, so that two batches with ids in common lock them in the same order.
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


def _was_decided_since(at: datetime) -> sa.Exists:
    return sa.exists().where(decisions.c.comment_id == comments.c.id, decisions.c.undone_at >= at)


def _of_other_mode(at: datetime) -> sa.Select[tuple[str]]:
    """Return the ids of sites whose mode was changed since, which their log begins with."""
    return sa.select(audit_log.c.subject).where(
        audit_log.c.act == "change settings",
        audit_log.c.at >= at,
        audit_log.c.detail.startswith("mode: "),
    )


_is_approved = sa.exists().where(is_in_force, decisions.c.ruling == Ruling.APPROVE.value)
_CONDITIONS: dict[SpamOnly | None, list[sa.ColumnElement[bool]]] = {
    None: [],
    SpamOnly.NOT_APPROVED: [sa.not_(_is_approved)],
    SpamOnly.HELD: [is_held_as_spam],
}
