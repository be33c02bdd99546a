"""Keeps reports, and authors' appeals, in a SQL database."""

from __future__ import annotations

import sqlalchemy as sa

from service.domain.comment import CommentId
from service.domain.decision import Action
from service.domain.report import Report
from service.ports.audit import AuditEntry
from service.ports.delivery import Tell
from service.stores.cursor import REST_RANK
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.rows import Row, report_values
from service.stores.sql.base.statements import insert_new, known, refuse_unknown
from service.stores.sql.base.store import SqlStore, transaction
from service.stores.sql.cases import load_cases
from service.stores.sql.deliveries import insert_deliveries
from service.stores.sql.queue_position import POSITION_COLUMNS, modes_of, rank_of, review_at_of
from service.stores.sql.schema.tables import comments, reports, sites


class ReportStore(SqlStore):
    """Keeps reports and appeals."""

    @transaction
    def add(self, tx: sa.Connection, report: Report, *, tell: Tell | None = None) -> bool:
        """Keep a report; return whether it was new.

        A second report of one comment with the label of its newest report changes nothing, nor
        does a known id. A report of a comment that has its verdict, no decision, and the other
        outcome brings it into the review queue, in the same transaction; if it did not wait there
        before, what `tell` returns is kept in it, too. Raise `NotFoundError` for an unknown site or
        comment, or a comment of another site.
        """
        if report.comment_id is None:
            refuse_unknown(tx, sites, report.site_id, "site")
            return insert_new(tx, reports, report_values(report))
        is_of_site = comments.c.site_id == report.site_id
        comment = _lock_comment(tx, report.comment_id, is_of_site)
        if comment.reported_as == report.label.value:
            return False
        if not insert_new(tx, reports, report_values(report)):
            return False
        rank = rank_of(comment, reported_as=report.label)
        mode = modes_of(tx, [comment.site_id])[comment.site_id]
        tx.execute(
            sa.update(comments)
            .where(comments.c.id == comment.id)
            .values(
                reported_as=report.label.value,
                review_rank=rank,
                review_at=review_at_of(comment, mode=mode, reported_as=report.label),
            )
        )
        if tell is not None and rank < REST_RANK == rank_of(comment):
            insert_deliveries(tx, tell(load_cases(tx, [comment.id])))
        return True

    @transaction
    def appeal(
        self, tx: sa.Connection, comment_id: CommentId, text: str, *, act: AuditEntry
    ) -> bool:
        """Keep an author's appeal with the log's entry; return False for a second or published one.

        The comment, which must be judged, comes first in the review queue in the same transaction.
        Raise `NotFoundError` for one that is not kept, or was withdrawn.
        """
        position = _lock_comment(tx, comment_id, comments.c.withdrawn_at.is_(None))
        # Somebody may have approved it since the author read why it is held.
        (case,) = load_cases(tx, [comment_id])
        if case.appeal is not None or case.action is Action.PUBLISH:
            return False
        rank = rank_of(position, appealed=True)
        tx.execute(
            sa.update(comments)
            .where(comments.c.id == comment_id)
            .values(appeal=text, appealed_at=act.at, review_rank=rank)
        )
        insert_entry(tx, act)
        return True


def _lock_comment(
    connection: sa.Connection, comment_id: CommentId, wanted: sa.ColumnElement[bool]
) -> Row:
    """Return where a comment stands, locked against verdicts and decisions."""
    query = (
        sa.select(*POSITION_COLUMNS)
        .where(comments.c.id == comment_id, wanted)
        .with_for_update(key_share=True)
    )
    return known(connection.execute(query).one_or_none(), "comment", comment_id)
