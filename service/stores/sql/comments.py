"""Stores comments in a SQL database."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa

from service.domain.comment import CommentId, Lane, ListHits, SiteId
from service.domain.decision import Ruling
from service.domain.delivery import unversioned
from service.domain.errors import StoreUnavailableError
from service.domain.text import content_key
from service.ports.comments import Added, AddOutcome, Attempt, NewComment
from service.stores.cursor import REST_RANK
from service.stores.sql.base import (
    SqlStore,
    chunks,
    execute_in,
    insert_if_free,
    insert_rows,
    no_such,
    put_row,
    rows_in,
    transaction,
)
from service.stores.sql.engine import reading
from service.stores.sql.review_queue import place_waiting
from service.stores.sql.rows import Values, comment_from, reader, sent_values, settings_from
from service.stores.sql.search import mark_for_index
from service.stores.sql.sites import JOINED_ENDPOINT, joined_endpoint
from service.stores.sql.tables import (
    comments,
    decisions,
    early_deletions,
    has_verdict,
    is_in_force,
    site_endpoints,
    sites,
    verdicts,
    waits_for_verdict,
)

# Each attempt sees at least one more equal key that another process added.
_ADD_TRIES = 5
# From this number of rows on, COPY is faster than INSERT: three times for 500.
COPIED_FROM = 10
# A lane is first in, first out: a comment queued this long before a judged one was lost.
OVERTAKEN_BY = timedelta(minutes=1)
# Spam may repeat a text thousands of times; only the newest are needed.
MAX_FOUND_BY_CONTENT = 100
# Sites that empty their trash may delete thousands of comments that were never submitted.
MOST_EARLY_DELETIONS = 10_000
# Prefix of the fingerprints of comments with `keep=False`.
_UNKEPT = "unkept:"

_hits_from = reader(ListHits)


class CommentStore(SqlStore):
    """Stores comments. Comments are durable once `add` returns."""

    def add(
        self, comments: Sequence[NewComment], *, queued_at: datetime | None = None
    ) -> list[Added]:
        """Add comments in one transaction and return a result for each, in order.

        A comment with the id, idempotency key or `site_comment_id` of an earlier one of its site is
        a REPEAT if their `fingerprint()` agrees, otherwise a CONFLICT; so is a comment to be kept
        if the earlier one is not. This holds within a call and under concurrent calls: exactly one
        comment with a key is NEW. A comment not known to be written after its recorded deletion is
        DELETED, even if both arrive concurrently. `queued_at` is as in `mark_queued`. Raise
        `NotFoundError`, and add nothing, if a site is unknown.
        """
        if not comments:
            return []
        rows = [comment_values(new) | {"queued_at": queued_at} for new in comments]
        for _ in range(_ADD_TRIES):
            try:
                return self.write(lambda tx: _add(tx, rows))
            except _TakenError:
                # Another process has just added an equal key, which the next attempt sees.
                continue
        raise StoreUnavailableError("too many equal comments arrive at once")

    @transaction
    def note_deletion(
        self,
        tx: sa.Connection,
        site_id: SiteId,
        site_comment_id: str,
        *,
        deleted_at: datetime,
        at: datetime,
    ) -> None:
        """Record that a comment was deleted, in every version, even if it has not arrived.

        Look for the comment afterwards, because it may have arrived meanwhile. The newest 10,000
        deletions of a site are stored, as digests.
        """
        values = {
            "site_comment_digest": site_comment_digest(site_id, site_comment_id),
            "site_id": site_id,
            "deleted_at": deleted_at,
            "noted_at": at,
        }
        # Waits for concurrent `add` calls of this site, so that a later look-up sees their
        # comments.
        tx.execute(sa.select(sites.c.id).where(sites.c.id == site_id).with_for_update())
        put_row(tx, early_deletions, values)
        of_site = early_deletions.c.site_id == site_id
        oldest_kept = (
            sa.select(early_deletions.c.noted_at)
            .where(of_site)
            .order_by(early_deletions.c.noted_at.desc())
            .offset(MOST_EARLY_DELETIONS)
            .limit(1)
            .scalar_subquery()
        )
        tx.execute(
            sa.delete(early_deletions).where(of_site, early_deletions.c.noted_at <= oldest_kept)
        )

    def forget_deletion(self, site_id: SiteId, site_comment_id: str) -> None:
        """Remove a recorded deletion: the site shows the comment again."""
        statement = sa.delete(early_deletions).where(
            early_deletions.c.site_comment_digest == site_comment_digest(site_id, site_comment_id)
        )
        self.write(lambda tx: tx.execute(statement))

    def prune_deletions(self, *, noted_before: datetime) -> int:
        """Remove deletions that were recorded earlier; return how many."""
        statement = sa.delete(early_deletions).where(early_deletions.c.noted_at < noted_before)
        return self.write(lambda tx: tx.execute(statement).rowcount)

    def load_unjudged(self, ids: Sequence[CommentId]) -> list[Attempt]:
        """Return the comments of `ids` that have no verdict, without duplicates, in order."""
        wanted = list(dict.fromkeys(ids))
        query = (
            sa.select(comments, sites.c.settings, *JOINED_ENDPOINT)
            .join(sites, sites.c.id == comments.c.site_id)
            .outerjoin(site_endpoints, site_endpoints.c.site_id == sites.c.id)
            .where(waits_for_verdict)
        )
        with reading(self._engine) as tx:
            found = {
                row.id: Attempt(
                    comment=comment_from(row),
                    attempts=row.attempts,
                    settings=settings_from(row.settings),
                    endpoint=joined_endpoint(row),
                )
                for row in rows_in(tx, query, comments.c.id, wanted)
            }
        return [found[comment_id] for comment_id in wanted if comment_id in found]

    def count_attempt(self, ids: Sequence[CommentId]) -> None:
        """Increment `attempts` before judging, to recognize comments that crash workers."""
        self._update(ids, {"attempts": comments.c.attempts + 1})

    def lower_attempts(self, to: Mapping[CommentId, int]) -> None:
        """Lower `attempts` of each id to this number: the worker did not crash."""
        for number in set(to.values()):
            ids = [comment_id for comment_id, most in to.items() if most == number]
            attempts = sa.case((comments.c.attempts > number, number), else_=comments.c.attempts)
            self._update(ids, {"attempts": attempts})

    def mark_queued(self, ids: Sequence[CommentId], at: datetime | None) -> None:
        """Set when these ids were queued, None if the queue refused them."""
        self._update(ids, {"queued_at": at})

    def _update(self, ids: Sequence[CommentId], changes: Mapping[str, object]) -> None:
        # Sorted, so that concurrent calls lock the same ids in the same order.
        wanted = sorted(set(ids))
        update = sa.update(comments).values(**changes)
        if wanted:
            self.write(lambda tx: execute_in(tx, update, comments.c.id, wanted))

    def find_stranded(
        self, lane: Lane, *, queued_before: datetime, received_before: datetime, limit: int
    ) -> list[CommentId]:
        """Return comments without a verdict that the queue seems to have lost, oldest first.

        They were never queued and received before `received_before`, or queued before
        `queued_before`, or queued a minute before the lane's newest judged comment.
        """
        with reading(self._engine) as tx:
            newest = tx.scalar(
                sa.select(sa.func.max(comments.c.queued_at)).where(
                    has_verdict, comments.c.lane == lane.value
                )
            )
            lost_before = max(queued_before, newest - OVERTAKEN_BY) if newest else queued_before
            never_queued = comments.c.queued_at.is_(None) & (
                comments.c.received_at < received_before
            )
            query = (
                sa.select(comments.c.id)
                .where(
                    waits_for_verdict,
                    comments.c.lane == lane.value,
                    sa.or_(never_queued, comments.c.queued_at < lost_before),
                )
                .order_by(comments.c.received_at, comments.c.id)
                .limit(limit)
            )
            return list(tx.scalars(query))

    def count_pending(self) -> Mapping[Lane, int]:
        query = (
            sa.select(comments.c.lane, sa.func.count())
            .where(waits_for_verdict)
            .group_by(comments.c.lane)
        )
        counts = {Lane(lane): count for lane, count in self._rows(query)}
        return {lane: counts.get(lane, 0) for lane in Lane}

    def find_by_content(
        self, site_id: SiteId, content_key: str, *, since: datetime
    ) -> list[CommentId]:
        """Return a site's newest comments with this `content_key`, at most 100."""
        query = (
            sa.select(comments.c.id)
            .where(
                comments.c.site_id == site_id,
                comments.c.content_key == content_key,
                comments.c.received_at >= since,
            )
            .order_by(comments.c.received_at.desc(), comments.c.id.desc())
            .limit(MAX_FOUND_BY_CONTENT)
        )
        return self._list(query, lambda row: row.id)

    def find_by_site_ids(
        self, site_id: SiteId, site_comment_ids: Sequence[str]
    ) -> Mapping[str, CommentId]:
        """Return the ids of comments by the site's own ids, including withdrawn comments."""
        names = {site_comment_digest(site_id, name): name for name in site_comment_ids}
        digest = comments.c.site_comment_digest
        query = sa.select(digest, comments.c.id)
        with reading(self._engine) as tx:
            return {names[key]: kept for key, kept in rows_in(tx, query, digest, [*names])}

    def find_unkept(self, *, since: datetime, before: datetime, limit: int) -> list[CommentId]:
        """Return comments with `keep=False` judged in this period that are not withdrawn yet."""
        query = (
            sa.select(comments.c.id)
            .join(verdicts)
            .where(verdicts.c.judged_at.between(since, before), comments.c.withdrawn_at.is_(None))
            .where(comments.c.fingerprint.startswith(_UNKEPT))
            .limit(limit)
        )
        return self._list(query, lambda row: row.id)

    def count_listings(self) -> Mapping[str, ListHits]:
        """Return the number of comments and of rulings in force for each reputation list."""
        name: sa.ColumnElement[str]
        if self._engine.dialect.name == "postgresql":
            each = sa.func.json_array_elements(comments.c.sender_listings).table_valued("value")
            name = each.c.value.op("->>")("list")
        else:
            each = sa.func.json_each(comments.c.sender_listings).table_valued("value")
            name = sa.func.json_extract(each.c.value, "$.list")
        listed = (
            sa.select(name.label("name"), decisions.c.ruling.label("ruling"))
            .select_from(comments.outerjoin(decisions, is_in_force).join(each, sa.true()))
            .where(comments.c.sender_listings.is_not(None))
            .subquery()
        )

        def ruled(ruling: Ruling) -> sa.ColumnElement[int]:
            return sa.func.coalesce(sa.func.sum(sa.case((listed.c.ruling == ruling.value, 1))), 0)

        query = sa.select(
            listed.c.name,
            sa.func.count().label("comments"),
            ruled(Ruling.APPROVE).label("approved"),
            ruled(Ruling.REJECT).label("rejected"),
        ).group_by(listed.c.name)
        return {row.name: _hits_from(row) for row in self._rows(query)}

    def reposition(
        self, site_id: SiteId, *, after: CommentId | None, limit: int
    ) -> CommentId | None:
        """Recompute the positions of a site's waiting comments in the review queue.

        Processes at most `limit` comments with ids after `after` in one transaction. Returns the
        last id, None if there were none. Safe to repeat.
        """
        return self.write(lambda tx: place_waiting(tx, site_id, after, limit))


def site_comment_digest(site_id: SiteId, site_comment_id: str) -> str:
    return _digest("own", site_id, site_comment_id)


def _digest(kind: str, site_id: SiteId, value: str) -> str:
    return hashlib.sha256(json.dumps([kind, site_id, value]).encode()).hexdigest()


def comment_values(new: NewComment) -> Values:
    """Return a new comment's row. Digests include the site, so sites' keys never collide."""
    comment = new.comment
    key, own_id = new.idempotency_key, comment.site_comment_id
    return {
        "id": comment.id,
        "site_id": comment.site_id,
        "received_at": comment.received_at,
        "lane": new.lane.value,
        "attempts": 0,
        "audit": False,
        "decided": False,
        "review_rank": REST_RANK,
        "review_at": comment.received_at,
        "fingerprint": comment.fingerprint() if new.keep else _UNKEPT + comment.fingerprint(),
        "idempotency_digest": None if key is None else _digest("key", comment.site_id, key),
        "site_comment_digest": (
            None if own_id is None else site_comment_digest(comment.site_id, own_id)
        ),
        "content_key": content_key(comment.text),
        **sent_values(comment),
    }


class _TakenError(Exception):
    """A key was free when it was looked up and has been taken since."""


def _add(tx: sa.Connection, rows: Sequence[Values]) -> list[Added]:
    # Locks the sites against concurrent `note_deletion` calls.
    wanted = sorted({row["site_id"] for row in rows})
    query = sa.select(sites.c.id).with_for_update(read=True, key_share=True)
    locked = {row.id for row in rows_in(tx, query, sites.c.id, wanted)}
    if missing := [one for one in wanted if one not in locked]:
        raise no_such("site", missing[0])
    deleted = _find_deleted(tx, rows)
    held = _find_held(tx, rows)
    answers, new = [], []
    for row in rows:
        added = _resolve(row, held)
        if added.outcome is AddOutcome.NEW and row["id"] in deleted:
            added = replace(added, outcome=AddOutcome.DELETED)
        if added.outcome is AddOutcome.NEW:
            held.update(dict.fromkeys(_claims(row), row))
            new.append(row)
        answers.append(added)
    if _insert(tx, new) != len(new):
        raise _TakenError
    mark_for_index(tx, [row["id"] for row in new])
    return answers


def _claims(row: Values) -> list[str]:
    """Return the keys that identify a comment, in the order of look-up."""
    claims = (row["idempotency_digest"], row["site_comment_digest"], f"id:{row['id']}")
    return [one for one in claims if one is not None]


def _resolve(row: Values, held: Mapping[str, Values]) -> Added:
    """Return the result for a comment, given the earlier comments by key."""
    holders = [held[claim] for claim in _claims(row) if claim in held]
    for holder in holders:
        # A kept comment may be submitted again with `keep=False`.
        if row["fingerprint"] not in (holder["fingerprint"], _UNKEPT + holder["fingerprint"]):
            return Added(outcome=AddOutcome.CONFLICT, comment_id=holder["id"])
    outcome = AddOutcome.REPEAT if holders else AddOutcome.NEW
    first = holders[0] if holders else row
    is_kept = not first["fingerprint"].startswith(_UNKEPT)
    return Added(outcome=outcome, comment_id=first["id"], is_kept=is_kept)


def _find_deleted(tx: sa.Connection, rows: Sequence[Values]) -> set[CommentId]:
    """Return the comments that were deleted at their site after they were written."""
    digest = early_deletions.c.site_comment_digest
    query = sa.select(digest, early_deletions.c.deleted_at, early_deletions.c.noted_at)
    # A deletion applies to every version.
    named = {
        row["id"]: site_comment_digest(row["site_id"], unversioned(own))
        for row in rows
        if (own := row["site_comment_id"])
    }
    deletions = {key: [at] for key, *at in rows_in(tx, query, digest, sorted({*named.values()}))}
    return {
        row["id"]
        for row in rows
        for at, noted in deletions.get(named.get(row["id"]), ())
        # A date ahead of our clock says nothing, unless the deletion's was as far ahead.
        if not at < (row["written_at"] or at) <= row["received_at"] + max(at - noted, timedelta())
    }


def _insert(tx: sa.Connection, rows: Sequence[Values]) -> int:
    """Insert the rows whose keys are free; return how many, 0 if COPY finds a taken key."""
    # In a fixed order, so that concurrent calls rarely deadlock.
    rows = sorted(
        rows, key=lambda row: (str(row["idempotency_digest"]), str(row["site_comment_digest"]))
    )
    if tx.dialect.name == "postgresql" and len(rows) >= COPIED_FROM:
        try:
            insert_rows(tx, comments, rows)
        except tx.dialect.loaded_dbapi.IntegrityError:
            return 0
        return len(rows)
    statement = insert_if_free(tx, comments).returning(comments.c.id)
    return sum(len(tx.execute(statement, some).all()) for some in chunks(rows))


def _find_held(tx: sa.Connection, rows: Sequence[Values]) -> dict[str, Values]:
    """Return the comments that already hold these keys, by key."""
    held: dict[str, Values] = {}
    c = comments.c
    for some in chunks(rows):
        query = sa.select(c.id, c.idempotency_digest, c.site_comment_digest, c.fingerprint).where(
            sa.or_(
                *(
                    column.in_([row[column.name] for row in some])
                    for column in (c.id, c.idempotency_digest, c.site_comment_digest)
                )
            )
        )
        for row in tx.execute(query):
            kept = row._asdict()
            held.update(dict.fromkeys(_claims(kept), kept))
    return held
