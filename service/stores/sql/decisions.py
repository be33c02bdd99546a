"""Stores decisions, single and bulk, in a SQL database."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from service.domain.campaign import is_by_person as made_by_person
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, DecidedComment, Decision
from service.domain.delivery import Delivery
from service.domain.errors import ConflictError, NotFoundError
from service.domain.page import Page
from service.ports.audit import AuditEntry, CountAct
from service.stores.cursor import APPEAL_RANK, REST_RANK
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import (
    SqlStore,
    execute_in,
    insert_if_free,
    insert_new,
    known,
    rows_in,
    transaction,
)
from service.stores.sql.deliveries import cancel_unsent, insert_deliveries, kept_of
from service.stores.sql.engine import reading
from service.stores.sql.review_queue import Position, lock_position, lock_positions, rank_of
from service.stores.sql.rows import (
    Row,
    comment_from,
    decision_from,
    decision_values,
    reader,
    writer,
)
from service.stores.sql.tables import (
    audit_log,
    comments,
    decisions,
    is_by_person,
    is_of_bulk_decision_in_force,
    is_unremembered,
    stroke_sites,
    strokes,
)

_id = decisions.c.id  # Used where an argument is named `decisions`.
MAX_AT_ONCE = 500


class DecisionStore(SqlStore):
    """Stores decisions; they are never deleted, only marked as undone."""

    @transaction
    def add(
        self,
        tx: sa.Connection,
        decision: Decision,
        *,
        deliveries: Sequence[Delivery] = (),
        instead_of: Collection[str] | None = None,
    ) -> list[Decision]:
        """Add a decision; return those that it replaces, marked as undone, then itself.

        At most one decision per comment is in force, also under concurrent calls. `deliveries`, and
        the log entries of the changed decisions, the replaced one first, are stored in the same
        transaction. The replaced decision's unsent messages are withdrawn;
        `deliveries` that contain the verdict are stored only if that withdrew the verdict's
        message. With `instead_of` only these ids may be replaced. Raise `NotFoundError` if the
        comment is unknown, `ConflictError` if it is withdrawn, the id is taken or another decision
        is in force; then nothing is stored.
        """
        position = lock_position(tx, decision.comment_id)
        if position.withdrawn_at is not None:
            raise ConflictError("the site withdrew this comment in the meantime")
        if instead_of is not None:
            _refuse_another(tx, decision.comment_id, instead_of)
        replaced = _append(tx, [decision], {decision.comment_id: position}, deliveries)
        _log(tx, [*replaced, decision])
        return [*replaced, decision]

    @transaction
    def add_many(
        self,
        tx: sa.Connection,
        decisions: Sequence[Decision],
        *,
        deliveries: Sequence[Delivery] = (),
        open_only: bool = False,
    ) -> list[Decision]:
        """Add decisions on at most 500 comments; return the replaced ones, then the added ones.

        All must have the same user, time, bulk decision (or none) and ruling, and different
        comments; otherwise raise `ValueError`. Skips comments that are unknown, withdrawn, appealed
        or already ruled alike (with `open_only`: ruled at all), and those that the same bulk
        decision decided before, even if that was undone. Skips all if the bulk decision is unknown
        or was undone; its counts and sites are updated. Decisions without one are logged.
        `deliveries` are as in `add`. Raise `ConflictError`, and store nothing, if an id is taken.
        """
        if len(decisions) > MAX_AT_ONCE:
            msg = f"at most {MAX_AT_ONCE} decisions can be made in one call, got {len(decisions)}"
            raise ValueError(msg)
        made = {
            (one.decided_by, one.decided_at, one.bulk_decision_id, one.ruling) for one in decisions
        }
        if len(made) > 1 or len({one.comment_id for one in decisions}) < len(decisions):
            raise ValueError("decisions of one call are one act, with one of a comment")
        if not decisions:
            return []
        bulk_decision_id = decisions[0].bulk_decision_id
        if bulk_decision_id is not None:
            # Locked against a concurrent undo.
            in_force = sa.select(strokes.c.id).where(
                strokes.c.id == bulk_decision_id, strokes.c.undone_at.is_(None)
            )
            if tx.execute(in_force.with_for_update(key_share=True)).one_or_none() is None:
                return []
        wanted = [one.comment_id for one in decisions]
        positions = {
            key: position
            for key, position in lock_positions(tx, comments.c.id.in_(wanted)).items()
            if position.withdrawn_at is None and position.review_rank != APPEAL_RANK
        }
        ruled = _already_ruled(tx, decisions[0], list(positions), or_otherwise=open_only)
        new = [one for one in decisions if one.comment_id in positions.keys() - ruled]
        if not new:
            return []
        ids = {one.comment_id for one in new}
        messages = [one for one in deliveries if one.comment_id in ids]
        replaced = _append(tx, new, positions, messages)
        if bulk_decision_id is None:
            _log(tx, [*replaced, *new])
        else:
            _count(tx, bulk_decision_id, [positions[key] for key in ids])
        return [*replaced, *new]

    @transaction
    def undo(
        self,
        tx: sa.Connection,
        comment_id: CommentId,
        *,
        by: str,
        at: datetime,
        deliveries: Sequence[Delivery] = (),
        decision_id: str | None = None,
    ) -> list[Decision]:
        """Undo the decision in force and return it alone, marked as undone.

        With `decision_id`, raise `ConflictError` if another is in force. If the site was notified
        neither of this decision nor of one that it replaced, its messages are withdrawn and
        `deliveries` are not stored. Those that contain the verdict, and the log entry, are stored
        as in `add`. Raise `NotFoundError` if no decision is in force.
        """
        positions = lock_positions(tx, comments.c.id == comment_id)
        if decision_id is not None:
            _refuse_another(tx, comment_id, [decision_id])
        undone = _mark_undone(tx, decisions.c.comment_id == comment_id, by=by, at=at)
        if not undone:
            raise NotFoundError(f"comment {comment_id!r} has no decision in force")
        _apply_undo(tx, undone, positions, deliveries)
        _log(tx, undone)
        return undone

    @transaction
    def undo_many(
        self,
        tx: sa.Connection,
        decisions: Sequence[Decision],
        *,
        by: str,
        at: datetime,
        deliveries: Sequence[Delivery] = (),
        act: CountAct | None = None,
    ) -> list[Decision]:
        """Undo those of at most 500 decisions that are in force, as `undo` does; return them.

        `deliveries` of other comments are skipped. If any were undone, the result of `act` is
        logged.
        """
        positions = lock_positions(tx, comments.c.id.in_([one.comment_id for one in decisions]))
        undone = _mark_undone(tx, _id.in_([one.id for one in decisions]), by=by, at=at)
        ids = {one.comment_id for one in undone}
        messages = [one for one in deliveries if one.comment_id in ids]
        if undone:
            _apply_undo(tx, undone, positions, messages)
            insert_entries(tx, act(len(undone)) if act else None)
        return undone

    def find_of_bulk_decision(
        self, bulk_decision_id: str, *, after: int, limit: int
    ) -> Page[DecidedComment, int]:
        """Return a bulk decision's decisions in force; see `find_in_force`."""
        of_bulk_decision = sa.and_(
            decisions.c.stroke_id == bulk_decision_id, is_of_bulk_decision_in_force
        )
        return self._page(of_bulk_decision, after=after, limit=limit)

    def find_unremembered(self, *, limit: int) -> list[DecidedComment]:
        """Return decisions that histories may lack since `add` or `undo`, oldest first."""
        query = (
            sa.select(decisions)
            .where(is_unremembered)
            .order_by(decisions.c.unremembered_since, decisions.c.seq)
            .limit(limit)
        )
        with reading(self._engine) as tx:
            return _with_comments(tx, tx.execute(query).all())

    @transaction
    def mark_remembered(self, tx: sa.Connection, told: Sequence[Decision]) -> None:
        """Mark decisions as counted in histories; one that was undone since stays listed."""
        # Sorted, so that concurrent calls lock the same rows in the same order.
        undone_at = decisions.c.undone_at
        for undone in (False, True):
            ids = sorted(one.id for one in told if (one.undone_at is not None) is undone)
            as_told = undone_at.is_not(None) if undone else undone_at.is_(None)
            statement = sa.update(decisions).where(as_told).values(unremembered_since=None)
            execute_in(tx, statement, decisions.c.id, ids)

    def find_in_force(self, *, after: int, limit: int) -> Page[DecidedComment, int]:
        """Return decisions in force in the order of adding, after a page's `next_cursor`.

        The last page is empty.
        """
        return self._page(decisions.c.undone_at.is_(None), after=after, limit=limit)

    def find_training_decisions(self, *, limit: int) -> list[tuple[int, CommentId]]:
        """Return the numbers and comments of the newest training decisions, in order.

        These are people's decisions in force on comments that are not withdrawn and were judged on
        all evidence.
        """
        query = (
            sa.select(decisions.c.seq, decisions.c.comment_id)
            .join(comments, comments.c.id == decisions.c.comment_id)
            .where(
                decisions.c.undone_at.is_(None),
                is_by_person,
                comments.c.withdrawn_at.is_(None),
                comments.c.outcome.is_not(None),
                comments.c.degraded.is_(False),
            )
            .order_by(decisions.c.seq.desc())
            .limit(limit)
        )
        return [(row.seq, row.comment_id) for row in self._rows(query)][::-1]

    def last_change(self) -> tuple[int, int]:
        """Return the numbers of the newest decision and of the newest entry in the audit log.

        Any change of what decisions teach increases one of them: every undo, withdrawal, erasure
        and change of a site's settings is logged.
        """
        decision = sa.select(sa.func.max(decisions.c.seq)).scalar_subquery()
        act = sa.select(sa.func.max(audit_log.c.seq)).scalar_subquery()
        [(newest_decision, newest_act)] = self._rows(sa.select(decision, act))
        return newest_decision or 0, newest_act or 0

    def _page(
        self, wanted: sa.ColumnElement[bool], *, after: int, limit: int
    ) -> Page[DecidedComment, int]:
        query = (
            sa.select(decisions)
            .where(decisions.c.seq > after, wanted)
            .order_by(decisions.c.seq)
            .limit(limit)
        )
        with reading(self._engine) as tx:
            rows = tx.execute(query).all()
            return Page(
                items=tuple(_with_comments(tx, rows)), next_cursor=rows[-1].seq if rows else None
            )


def _log(tx: sa.Connection, changed: Sequence[Decision]) -> None:
    """Log decisions on single comments, or their undoing."""
    entries = [
        AuditEntry(
            at=one.undone_at or one.decided_at,
            actor=one.undone_by or one.decided_by,
            act="undo" if one.undone_at else one.ruling.value,
            subject=one.comment_id,
        )
        for one in changed
    ]
    insert_entries(tx, *entries)


def _with_comments(tx: sa.Connection, rows: Sequence[Row]) -> list[DecidedComment]:
    ids = sorted({row.comment_id for row in rows})
    kept = rows_in(tx, sa.select(comments), comments.c.id, ids)
    found = {row.id: comment_from(row) for row in kept}
    return [
        DecidedComment(decision=decision_from(row), comment=found[row.comment_id]) for row in rows
    ]


def _refuse_another(tx: sa.Connection, comment_id: CommentId, expected: Collection[str]) -> None:
    """Raise `ConflictError` if a decision is in force that is not `expected`."""
    query = sa.select(decisions.c.id).where(
        decisions.c.comment_id == comment_id, decisions.c.undone_at.is_(None)
    )
    if any(found not in expected for found in tx.scalars(query)):
        raise ConflictError("somebody decided this comment in the meantime")


def _already_ruled(
    tx: sa.Connection, like: Decision, ids: Sequence[CommentId], *, or_otherwise: bool
) -> set[CommentId]:
    """Return the comments that are ruled alike, or were decided in the same bulk decision."""
    alike: sa.ColumnElement[bool] = decisions.c.undone_at.is_(None)
    if not or_otherwise:
        alike = sa.and_(alike, decisions.c.ruling == like.ruling.value)
    if like.bulk_decision_id is not None:
        alike = sa.or_(alike, decisions.c.stroke_id == like.bulk_decision_id)
    query = sa.select(decisions.c.comment_id).where(decisions.c.comment_id.in_(ids), alike)
    return set(tx.scalars(query))


def _append(
    tx: sa.Connection,
    new: Sequence[Decision],
    positions: Mapping[CommentId, Position],
    messages: Sequence[Delivery],
) -> list[Decision]:
    """Add decisions of one action; return those they replace. The comments must be locked."""
    ids = [one.comment_id for one in new]
    replaced = _mark_undone(
        tx, decisions.c.comment_id.in_(ids), by=new[0].decided_by, at=new[0].decided_at
    )
    cancelled = cancel_unsent(tx, replaced)
    taken = sa.select(decisions.c.id).where(decisions.c.id.in_([one.id for one in new]))
    if tx.execute(taken.limit(1)).all():
        raise ConflictError("there is a decision of this id already")
    tx.execute(sa.insert(decisions), [decision_values(one) for one in new])
    _update_comments(tx, [positions[key] for key in ids], by=new[0])
    corrects = {one.comment_id for one in replaced if one.id not in cancelled.unsent}
    insert_deliveries(
        tx,
        [
            replace(one, corrects_told=one.comment_id in corrects)
            for one in kept_of(messages, cancelled)
        ],
    )
    return replaced


def _apply_undo(
    tx: sa.Connection,
    undone: Sequence[Decision],
    positions: Mapping[CommentId, Position],
    messages: Sequence[Delivery],
) -> None:
    """Update comments and messages after decisions were undone. The comments must be locked."""
    cancelled = cancel_unsent(tx, undone)
    _update_comments(tx, [positions[one.comment_id] for one in undone], by=None)
    silent = {one.comment_id for one in undone if one.id in cancelled.unsent}
    insert_deliveries(tx, kept_of(messages, cancelled, silent=silent))


def _mark_undone(
    tx: sa.Connection, wanted: sa.ColumnElement[bool], *, by: str, at: datetime
) -> list[Decision]:
    """Mark matching decisions in force as undone; return them, sorted by number."""
    statement = (
        sa.update(decisions)
        .where(wanted, decisions.c.undone_at.is_(None))
        .values(undone_at=at, undone_by=by, unremembered_since=at)
        .returning(*decisions.c)
    )
    rows = sorted(tx.execute(statement).all(), key=lambda row: row.seq)
    return [decision_from(row) for row in rows]


def _update_comments(
    tx: sa.Connection, positions: Sequence[Position], *, by: Decision | None
) -> None:
    """Set the comments' `decided` and `review_rank`; None undoes.

    A person's decision closes appeals, undoing it reopens them.
    """
    ranks = []
    for one in positions:
        appealed = one.appealed_at is not None
        if by is not None:
            appealed = one.review_rank == APPEAL_RANK and not made_by_person(by)
        before = APPEAL_RANK if appealed else REST_RANK
        rank = rank_of(replace(one, decided=by is not None, review_rank=before))
        ranks.append({"decided_id": one.id, "decided": by is not None, "review_rank": rank})
    is_it = comments.c.id == sa.bindparam("decided_id")
    tx.execute(sa.update(comments).where(is_it), ranks)


def _count(tx: sa.Connection, bulk_decision_id: str, decided: Sequence[Position]) -> None:
    """Add comments to the counts and sites of a locked bulk decision."""
    tx.execute(
        sa.update(strokes)
        .where(strokes.c.id == bulk_decision_id)
        .values(
            n_decided=strokes.c.n_decided + len(decided),
            n_left_out=strokes.c.n_left_out - len(decided),
        )
    )
    site_ids = sorted({one.site_id for one in decided})
    rows = [{"stroke_id": bulk_decision_id, "site_id": site_id} for site_id in site_ids]
    tx.execute(insert_if_free(tx, stroke_sites), rows)


_in_force = (
    sa.select(sa.func.count())
    .where(decisions.c.stroke_id == strokes.c.id, is_of_bulk_decision_in_force)
    .correlate(strokes)
    .scalar_subquery()
)
_QUERY = sa.select(strokes, _in_force.label("n_in_force"))

_values, _bulk_decision_from = writer(BulkDecision), reader(BulkDecision)


class BulkDecisionStore(SqlStore):
    """Stores bulk decisions; `DecisionStore.add_many` updates their counts."""

    @transaction
    def begin(self, tx: sa.Connection, bulk_decision: BulkDecision) -> BulkDecision:
        """Add a bulk decision and log it; return the existing one if its id is known."""
        is_new = insert_new(tx, strokes, _values(bulk_decision) | {"n_decided": 0})
        kept = _get(tx, bulk_decision.id)
        insert_entries(tx, _entry_of(kept) if is_new else None)
        return kept

    def get(self, bulk_decision_id: str) -> BulkDecision:
        """Return a bulk decision. Raise `NotFoundError` if it is unknown."""
        with reading(self._engine) as tx:
            return _get(tx, bulk_decision_id)

    @transaction
    def take_back(
        self, tx: sa.Connection, bulk_decision_id: str, *, by: str, at: datetime
    ) -> BulkDecision:
        """Mark a bulk decision as undone, for good, log it and return it. Raise `NotFoundError`."""
        statement = (
            sa.update(strokes)
            .where(strokes.c.id == bulk_decision_id, strokes.c.undone_at.is_(None))
            .values(undone_at=at, undone_by=by)
        )
        is_marked = tx.execute(statement).rowcount > 0
        bulk_decision = _get(tx, bulk_decision_id)
        insert_entries(tx, _entry_of(bulk_decision) if is_marked else None)
        return bulk_decision

    def recent(
        self, *, site_ids: tuple[SiteId, ...] | None, limit: int, before: str | None = None
    ) -> list[BulkDecision]:
        """Return the newest bulk decisions first, optionally only those after `before` in the list.

        With `site_ids` only those that affected no other site. An unknown `before` returns nothing.
        """
        query = _QUERY.order_by(strokes.c.seq.desc()).limit(limit)
        if before is not None:
            seq = sa.select(strokes.c.seq).where(strokes.c.id == before).scalar_subquery()
            query = query.where(strokes.c.seq < seq)
        if site_ids is not None:
            at_another = sa.exists().where(
                stroke_sites.c.stroke_id == strokes.c.id, stroke_sites.c.site_id.not_in(site_ids)
            )
            at_any = sa.exists().where(stroke_sites.c.stroke_id == strokes.c.id)
            query = query.where(at_any, sa.not_(at_another))
        with reading(self._engine) as tx:
            return _with_sites(tx, tx.execute(query).all())


def _entry_of(one: BulkDecision) -> AuditEntry:
    """Return the entry of a bulk decision, or of its undoing."""
    counts = f"{one.n_decided} decided, {one.n_in_force} of them in force"
    return AuditEntry(
        at=one.undone_at or one.decided_at,
        actor=one.undone_by or one.decided_by,
        act="undo together" if one.undone_at else f"{one.ruling.value} together",
        subject=one.id,
        detail=counts if one.undone_at else f"{one.n_left_out} comments",
    )


def _get(tx: sa.Connection, bulk_decision_id: str) -> BulkDecision:
    row = tx.execute(_QUERY.where(strokes.c.id == bulk_decision_id)).one_or_none()
    return _with_sites(tx, [known(row, "bulk decision", bulk_decision_id)])[0]


def _with_sites(tx: sa.Connection, rows: Sequence[Row]) -> list[BulkDecision]:
    query = sa.select(stroke_sites).where(stroke_sites.c.stroke_id.in_([row.id for row in rows]))
    sites: dict[str, list[SiteId]] = {}
    for row in tx.execute(query.order_by(stroke_sites.c.site_id)):
        sites.setdefault(row.stroke_id, []).append(row.site_id)
    return [
        replace(
            _bulk_decision_from(row),
            n_in_force=row.n_in_force,
            site_ids=tuple(sites.get(row.id, ())),
        )
        for row in rows
    ]
