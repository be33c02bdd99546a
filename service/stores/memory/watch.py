"""Watches the review queue in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.domain.errors import NotFoundError
from service.ports.review import CaseStore, Newcomer, Standing


class MemoryReviewWatch:
    """Watches the review queue of other memory stores; see `ReviewWatch`."""

    def __init__(self, cases: CaseStore) -> None:
        self._cases = cases

    def standings(self, ids: Sequence[CommentId]) -> Mapping[CommentId, Standing]:
        """See `ReviewWatch.standings`."""
        found = {}
        for comment_id in ids:
            try:
                case = self._cases.get(comment_id)
            except NotFoundError:
                continue
            found[comment_id] = Standing(
                withdrawn=case.withdrawn_at is not None,
                decision_id=case.decision.id if case.decision else None,
                reported_as=case.reports[-1].label if case.reports else None,
            )
        return found

    def newcomers(self, *, received_after: datetime, limit: int) -> list[Newcomer]:
        """See `ReviewWatch.newcomers`."""
        waiting = CaseFilter(needs_review=True)
        page = self._cases.page(waiting, order=Order.NEWEST, cursor=None, limit=limit)
        return [
            Newcomer(
                comment_id=case.comment.id,
                site_id=case.comment.site_id,
                judged_at=case.verdict.judged_at,
            )
            for case in page.cases
            if case.verdict is not None and case.comment.received_at > received_after
        ]
