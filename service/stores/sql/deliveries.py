"""Stores deliveries in a SQL database."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import CommentId, SiteId
from service.domain.decision import Decision
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    EventKind,
    Troubles,
)
from service.ports.audit import CountAct
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import (
    SiteIds,
    SqlStore,
    chunks,
    execute_in,
    insert_if_free,
    known,
    no_such,
    rows_in,
    transaction,
)
from service.stores.sql.engine import reading
from service.stores.sql.rows import Values, reader, writer
from service.stores.sql.sites import JOINED_ENDPOINT, joined_endpoint
from service.stores.sql.tables import (
    comments,
    deliveries,
    delivery_attempts,
    is_delivered,
    is_first_in_line,
    is_undelivered,
    is_waiting,
    site_endpoints,
)

_delivery_values, _delivery_from = writer(Delivery), reader(Delivery)
_attempt_values, _attempt_from = writer(DeliveryAttempt), reader(DeliveryAttempt)
_d = deliveries.c
# A leased one may be being sent, and a replayed one starts with no attempts.
is_unsent = sa.and_(
    is_waiting,
    _d.lent_until.is_(None),
    _d.attempts == 0,
    sa.not_(sa.exists().where(delivery_attempts.c.delivery_id == _d.id)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The result of withdrawing the messages of decisions.

    `unsent` are the decisions of which the site was notified neither of them nor of one that they
    replaced; `lack_verdict` the comments whose withdrawn message also contained the verdict.
    """

    unsent: frozenset[str]
    lack_verdict: frozenset[CommentId]


class DeliveryStore(SqlStore):
    """Stores messages to sites until they are delivered."""

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """Add deliveries; ignore known ids. Raise `NotFoundError` if a comment is unknown.

        Each gets a `seq`, which increases per comment in the order of adding.
        """
        if deliveries:
            self.write(lambda tx: insert_deliveries(tx, deliveries))

    @transaction
    def take_due(
        self,
        tx: sa.Connection,
        now: datetime,
        *,
        until: datetime,
        limit: int,
        except_sites: Collection[SiteId] = (),
    ) -> list[Delivery]:
        """Return due deliveries, the longest due first, and lease them until `until`.

        Skips `except_sites`, and platforms that refused their token or are paused. Returns at most
        one delivery per comment: the next waits until it is delivered or given up. No other call
        returns a leased delivery, or another of its comment, before `until` or `record`.
        """
        # The platform refused the token or asked to pause; Akismet's callbacks go to another host.
        is_paused = sa.or_(
            site_endpoints.c.refused_at.is_not(None), site_endpoints.c.rests_until > now
        )
        due = (
            sa.select(deliveries, *JOINED_ENDPOINT)
            .outerjoin(site_endpoints, site_endpoints.c.site_id == _d.site_id)
            .where(
                is_first_in_line,
                _d.due_at <= now,
                sa.or_(is_paused.is_not(True), _d.form == DeliveryForm.AKISMET.value),
            )
            .order_by(_d.due_at, _d.seq)
            .limit(limit)
            .with_for_update(key_share=True, skip_locked=True, of=deliveries)
        )
        if except_sites:
            due = due.where(deliveries.c.site_id.not_in(sorted(except_sites)))
        taken = [
            replace(_delivery_from(row), endpoint=joined_endpoint(row)) for row in tx.execute(due)
        ]
        lease = sa.update(deliveries).values(due_at=until, lent_until=until)
        execute_in(tx, lease, _d.seq, [delivery.seq for delivery in taken])
        return taken

    @transaction
    def record(
        self,
        tx: sa.Connection,
        attempt: DeliveryAttempt,
        *,
        state: DeliveryState,
        next_try_at: datetime | None = None,
    ) -> Delivery:
        """Log an attempt, set the delivery's new `state` and return the delivery.

        WAITING is due again at `next_try_at`, or at once. DELIVERED is final; a given-up delivery
        waits again only after `replay`. Raise `NotFoundError`.
        """
        found = _lock_comment_of(tx, attempt.delivery_id)
        before = known(found, "delivery", attempt.delivery_id)
        tx.execute(sa.insert(delivery_attempts), [_attempt_values(attempt)])
        after = replace(before, attempts=before.attempts + 1)
        # A slow worker may report after another one has delivered it or given it up.
        if before.state is DeliveryState.WAITING and state is DeliveryState.WAITING:
            after = replace(after, next_try_at=next_try_at or attempt.at)
        elif before.state is not DeliveryState.DELIVERED and state is not DeliveryState.WAITING:
            after = replace(after, state=state, next_try_at=None, ended_at=attempt.at)
        _update(tx, after)
        _schedule_first(tx, [after.comment_id])
        return after

    @transaction
    def release(self, tx: sa.Connection, delivery_id: str, *, until: datetime) -> None:
        """Release a leased delivery without an attempt, due at `until`; ignore any other."""
        leased = _lock_comment_of(tx, delivery_id, only_leased=True)
        if leased is not None:
            _update(tx, replace(leased, next_try_at=until))
            _schedule_first(tx, [leased.comment_id])

    @transaction
    def replay(
        self,
        tx: sa.Connection,
        delivery_ids: Sequence[str],
        *,
        at: datetime,
        act: CountAct | None = None,
    ) -> int:
        """Have given-up deliveries tried again and log it; return how many."""
        replayed = sum(_replay(tx, some, at) for some in chunks(sorted(set(delivery_ids))))
        insert_entries(tx, act(replayed) if act and replayed else None)
        return replayed

    def get(self, delivery_id: str) -> Delivery:
        """Return a delivery. Raise `NotFoundError` if it is unknown."""
        query = sa.select(deliveries).where(deliveries.c.id == delivery_id)
        return known(self._find(query, _delivery_from), "delivery", delivery_id)

    def recent(
        self, *, state: DeliveryState | None, site_id: SiteId | None, limit: int
    ) -> list[Delivery]:
        query = sa.select(deliveries).order_by(deliveries.c.seq.desc()).limit(limit)
        if state is not None:
            query = query.where(deliveries.c.state == state.value)
        if state not in (None, DeliveryState.DELIVERED):
            # Redundant, but the partial index is used only with it.
            query = query.where(is_undelivered)
        if site_id is not None:
            query = query.where(deliveries.c.site_id == site_id)
        return self._list(query, _delivery_from)

    def troubles(self, *, site_ids: SiteIds, at_most: int) -> Troubles:
        """Return problems at these sites (None for all); messages are counted up to `at_most`."""
        # The second condition is redundant, but the partial index is used only with it.
        dead = sa.select(_d.seq).where(_d.state == DeliveryState.DEAD.value, is_undelivered)
        refused = sa.select(sa.func.count()).where(site_endpoints.c.refused_at.is_not(None))
        if site_ids is not None:
            dead = dead.where(_d.site_id.in_(site_ids))
            refused = refused.where(site_endpoints.c.site_id.in_(site_ids))
        counted = sa.select(sa.func.count()).select_from(dead.limit(at_most).subquery())
        query = sa.select(counted.scalar_subquery(), refused.scalar_subquery())
        with reading(self._engine) as tx:
            given_up, stopped = tx.execute(query).one()
        return Troubles(given_up=given_up, refused=stopped)

    def attempts(self, delivery_id: str) -> list[DeliveryAttempt]:
        query = (
            sa.select(delivery_attempts)
            .where(delivery_attempts.c.delivery_id == delivery_id)
            .order_by(delivery_attempts.c.seq)
        )
        return self._list(query, _attempt_from)

    @transaction
    def prune(self, tx: sa.Connection, *, delivered_before: datetime, limit: int) -> int:
        """Delete the deliveries delivered longest ago, with their attempts; return how many."""
        old = (
            sa.select(deliveries.c.id)
            .where(is_delivered, deliveries.c.ended_at < delivered_before)
            .order_by(deliveries.c.ended_at, deliveries.c.seq)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        ids = list(tx.scalars(old))
        for column in (delivery_attempts.c.delivery_id, deliveries.c.id):
            execute_in(tx, sa.delete(column.table), column, ids)
        return len(ids)


def insert_deliveries(tx: sa.Connection, new: Sequence[Delivery]) -> None:
    """Add deliveries within a transaction; see `DeliveryStore.add`."""
    # Locked, so that a comment's `seq` follows the order of commits.
    query = sa.select(comments.c.id, comments.c.site_id).order_by(comments.c.id)
    query = query.with_for_update(key_share=True)
    ids = sorted({delivery.comment_id for delivery in new})
    site_of = {row.id: row.site_id for row in rows_in(tx, query, comments.c.id, ids)}
    for delivery in new:
        if site_of.get(delivery.comment_id) != delivery.site_id:
            raise no_such("comment", delivery.comment_id)
    insert_of_locked(tx, new)


def insert_of_locked(tx: sa.Connection, new: Sequence[Delivery]) -> None:
    """Add deliveries within a transaction that has locked their comments."""
    if not new:
        return
    # Row by row, so that `seq` follows the order of `new`.
    tx.execute(insert_if_free(tx, deliveries), [delivery_values(delivery) for delivery in new])
    _schedule_first(tx, sorted({delivery.comment_id for delivery in new}))


def delivery_values(delivery: Delivery) -> Values:
    """Return a delivery's row without `seq`, which the database generates."""
    values = _delivery_values(delivery)
    del values["seq"]
    return values


def hasten_callbacks(tx: sa.Connection, comment_ids: Sequence[CommentId], *, at: datetime) -> None:
    """Make the Akismet callbacks of comments that have their verdict now due at `at`.

    Their comments must be locked.
    """
    sooner = (
        sa.update(deliveries)
        .where(is_first_in_line, _d.lent_until.is_(None), _d.form == DeliveryForm.AKISMET.value)
        .values(due_at=at, next_try_at=at)
    )
    execute_in(tx, sooner, _d.comment_id, comment_ids)


def cancel_unsent(tx: sa.Connection, undone: Sequence[Decision]) -> Cancelled:
    """Delete unsent messages of these decisions, whose comments must be locked."""
    ids = [one.id for one in undone]
    told = set(ids)
    lack_verdict: set[CommentId] = set()
    for some in chunks(undone):
        unsent = tx.execute(
            sa.delete(deliveries)
            .where(_d.decision_id.in_([one.id for one in some]), is_unsent)
            .returning(_d.decision_id, _d.comment_id, _d.event, _d.corrects_told)
        ).all()
        if not unsent:
            continue
        rulings = [row for row in unsent if row.event == EventKind.DECISION.value]
        told -= {row.decision_id for row in rulings if not row.corrects_told}
        lack_verdict |= {row.comment_id for row in unsent if row.event != EventKind.DECISION.value}
        left = sa.select(_d.decision_id).where(_d.decision_id.in_([one.id for one in some]))
        told |= set(tx.scalars(left))
        _schedule_first(tx, [one.comment_id for one in some])
    return Cancelled(unsent=frozenset(ids) - told, lack_verdict=frozenset(lack_verdict))


def _lock_comment_of(
    tx: sa.Connection, delivery_id: str, *, only_leased: bool = False
) -> Delivery | None:
    """Return a delivery, None if unknown, with its comment locked so that its queue is stable."""
    query = (
        sa.select(deliveries)
        .join(comments, comments.c.id == _d.comment_id)
        .where(_d.id == delivery_id)
        .with_for_update(key_share=True, of=[comments, deliveries])
    )
    if only_leased:
        query = query.where(_d.lent_until.is_not(None))
    row = tx.execute(query).one_or_none()
    return None if row is None else _delivery_from(row)


def _update(tx: sa.Connection, delivery: Delivery) -> None:
    """Update a delivery and end its lease; `_schedule_first` must follow."""
    tx.execute(
        sa.update(deliveries)
        .where(deliveries.c.seq == delivery.seq)
        .values(
            state=delivery.state.value,
            attempts=delivery.attempts,
            next_try_at=delivery.next_try_at,
            ended_at=delivery.ended_at,
            due_at=None,
            lent_until=None,
        )
    )


def _replay(tx: sa.Connection, ids: Sequence[str], at: datetime) -> int:
    line = (
        sa.select(comments.c.id)
        .where(
            comments.c.id.in_(sa.select(deliveries.c.comment_id).where(deliveries.c.id.in_(ids)))
        )
        .order_by(comments.c.id)
        .with_for_update(key_share=True)
    )
    locked = list(tx.scalars(line))
    revived = tx.execute(
        sa.update(deliveries)
        .where(deliveries.c.id.in_(ids), deliveries.c.state == DeliveryState.DEAD.value)
        .values(state=DeliveryState.WAITING.value, attempts=0, next_try_at=at, ended_at=None)
    )
    # Revived deliveries precede those that waited behind them, unless one of these is being sent.
    tx.execute(
        sa.update(deliveries)
        .where(
            deliveries.c.comment_id.in_(locked),
            is_first_in_line,
            sa.or_(deliveries.c.lent_until.is_(None), deliveries.c.lent_until <= at),
        )
        .values(due_at=None)
    )
    _schedule_first(tx, locked)
    return revived.rowcount


def _schedule_first(tx: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Set `due_at` of each comment's first waiting delivery, unless one is already due."""
    for some in chunks(ids):
        line = deliveries.alias("line")
        first = (
            sa.select(sa.func.min(line.c.seq))
            .where(line.c.comment_id.in_(some), line.c.state == sa.literal_column("'waiting'"))
            .group_by(line.c.comment_id)
            .having(sa.func.count(line.c.due_at) == 0)
        )
        tx.execute(
            sa.update(deliveries)
            .where(_d.seq.in_(first))
            .values(due_at=sa.func.coalesce(_d.lent_until, _d.next_try_at, _d.created_at))
        )


def kept_of(
    messages: Iterable[Delivery], cancelled: Cancelled, *, silent: Collection[CommentId] = ()
) -> list[Delivery]:
    """Return the messages to store; rulings on `silent` comments are dropped."""
    return [
        one
        for one in messages
        if (
            one.comment_id not in silent
            if one.event is EventKind.DECISION
            else one.comment_id in cancelled.lack_verdict
        )
    ]
