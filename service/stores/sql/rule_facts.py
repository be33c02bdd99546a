"""Reads from a SQL database what sites' rules need to know of a comment's author and post."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.domain.comment import Comment, SiteId
from service.domain.decision import Ruling
from service.domain.list_entry import Effect
from service.domain.rules import RuleFacts, SiteRules
from service.domain.rules_preview import PastComment
from service.domain.verdict import Outcome
from service.stores.sql.base.engine import reading
from service.stores.sql.base.rows import comment_from
from service.stores.sql.base.statements import chunks
from service.stores.sql.schema.tables import comments, decisions, has_short_post_url, verdicts

_in_force = (decisions.c.comment_id == comments.c.id) & decisions.c.undone_at.is_(None)
_is_published = sa.or_(
    sa.and_(comments.c.outcome == Outcome.HAM.value, comments.c.decided.is_(False)),
    decisions.c.ruling == Ruling.APPROVE.value,
)
_People = dict[str, tuple[int, datetime]]
_Posts = dict[tuple[SiteId, str], datetime]


class RuleFactStore:
    """Reads what rules need to know: at most two statements a batch, none without such a rule."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def find(self, judged: Sequence[tuple[Comment, SiteRules]]) -> list[RuleFacts]:
        """Return what the rules need to know of each comment, in order."""
        asked = [comment for comment, rules in judged if rules.need_person]
        under = [comment for comment, rules in judged if _needs_post(comment, rules)]
        if not asked and not under:
            return [RuleFacts()] * len(judged)
        with reading(self._engine) as connection:
            people, posts = _people(connection, asked), _posts(connection, under)
        return [_facts(comment, people, posts) for comment, _ in judged]

    def find_past(
        self, site_id: SiteId, rules: SiteRules, *, since: datetime, limit: int
    ) -> list[PastComment]:
        """Return a site's comments since then that were published or held by a rule.

        The newest `limit` at most, the oldest of them first. Facts are those of before the
        first; decisions those in force now.
        """
        query = (
            sa.select(comments, decisions.c.ruling, verdicts.c.held_by, verdicts.c.instruction)
            .join(verdicts, verdicts.c.comment_id == comments.c.id)
            .outerjoin(decisions, _in_force)
            .where(
                comments.c.site_id == site_id,
                comments.c.received_at >= since,
                comments.c.withdrawn_at.is_(None),
                sa.or_(
                    comments.c.outcome == Outcome.HAM.value,
                    verdicts.c.held_by.is_not(None),
                    decisions.c.ruling == Ruling.APPROVE.value,
                ),
            )
            .order_by(comments.c.received_at.desc(), comments.c.id.desc())
            .limit(limit)
        )
        with reading(self._engine) as connection:
            rows = [(comment_from(row), row) for row in connection.execute(query)][::-1]
            if not rows:
                return []
            found = [comment for comment, _ in rows]
            asked = found if rules.need_person else []
            people = _people(connection, asked, before=found[0].received_at)
            posts = _posts(connection, [one for one in found if _needs_post(one, rules)])
        return [
            PastComment(
                comment=comment,
                facts=_facts(comment, people, posts),
                was_ham=row.outcome == Outcome.HAM.value or bool(row.held_by),
                ruling=Ruling(row.ruling) if row.ruling else None,
                is_published=row.ruling == Ruling.APPROVE.value
                or (row.ruling is None and not row.held_by),
                is_allowed=bool(row.instruction) and row.instruction["effect"] == Effect.ALLOW,
            )
            for comment, row in rows
        ]


def _needs_post(comment: Comment, rules: SiteRules) -> bool:
    return bool(rules.max_post_days and comment.post.url and comment.post.published_at is None)


def _people(
    connection: sa.Connection, of: Iterable[Comment], *, before: datetime | None = None
) -> _People:
    """Return how many comments of each author are published, and when the first came.

    An account's key is of one site.
    """
    keys = {one.account_key for comment in of for one in comment.sender.generations}
    found: _People = {}
    for some in chunks(sorted(filter(None, keys))):
        query = (
            sa.select(
                comments.c.sender_account_key,
                sa.func.count().label("number"),
                sa.func.min(comments.c.received_at).label("first"),
            )
            .outerjoin(decisions, sa.and_(comments.c.decided.is_(True), _in_force))
            .where(
                comments.c.sender_account_key.in_(some),
                # Always true here, but the index is only used by a query that says so.
                comments.c.sender_account_key.is_not(None),
                _is_published,
            )
            .group_by(comments.c.sender_account_key)
        )
        if before is not None:
            query = query.where(comments.c.received_at < before)
        for row in connection.execute(query):
            found[row.sender_account_key] = (row.number, row.first)
    return found


def _posts(connection: sa.Connection, under: Iterable[Comment]) -> _Posts:
    """Return when the first comment came under each of these comments' posts."""
    found: _Posts = {}
    for some in chunks(sorted({(one.site_id, one.post.url or "") for one in under})):
        columns: tuple[sa.ColumnElement[Any], ...] = (comments.c.site_id, comments.c.post_url)
        query = (
            sa.select(*columns, sa.func.min(comments.c.received_at).label("first"))
            .where(
                comments.c.site_id.in_({site_id for site_id, _ in some}),
                comments.c.post_url.in_({url for _, url in some}),
                has_short_post_url,
            )
            .group_by(*columns)
        )
        for row in connection.execute(query):
            found[row.site_id, row.post_url] = row.first
    return found


def _facts(comment: Comment, people: _People, posts: _Posts) -> RuleFacts:
    keys = {one.account_key for one in comment.sender.generations}
    known = [people[key] for key in keys if key in people]
    return RuleFacts(
        approved=sum(number for number, _ in known),
        first_approved=min((first for _, first in known), default=None),
        post_seen=posts.get((comment.site_id, comment.post.url or "")),
    )
