"""Reads from a SQL database what sites' rules need to know of a comment's author and post."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import Comment, SiteId
from service.domain.decision import Ruling
from service.domain.rules import RuleFacts, SiteRules
from service.domain.verdict import Outcome
from service.stores.sql.base.engine import reading
from service.stores.sql.base.statements import chunks
from service.stores.sql.schema.tables import comments, decisions, has_short_post_url

_in_force = (decisions.c.comment_id == comments.c.id) & decisions.c.undone_at.is_(None)
_is_published = sa.or_(
    sa.and_(comments.c.outcome == Outcome.HAM.value, comments.c.decided.is_(False)),
    decisions.c.ruling == Ruling.APPROVE.value,
)
_first = sa.func.min(comments.c.received_at).label("first")
_People = dict[str, tuple[int, datetime]]
_Posts = dict[tuple[SiteId, str], datetime]


class RuleFactStore:
    """Reads what rules need to know."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def find(
        self, judged: Sequence[tuple[Comment, SiteRules]], *, before: datetime | None = None
    ) -> list[RuleFacts]:
        """Return what the rules need to know of each comment, in order.

        At most two statements a thousand comments, none without a rule that asks. Of an author
        count only the comments received `before`.
        """
        asked = [comment for comment, rules in judged if rules.need_person]
        under = [
            (comment.site_id, comment.post.url)
            for comment, rules in judged
            if rules.max_post_days and comment.post.url and not comment.post.published_at
        ]
        if not asked and not under:
            return [RuleFacts()] * len(judged)
        with reading(self._engine) as connection:
            people, posts = _people(connection, asked, before), _posts(connection, under)
        return [_facts(comment, people, posts) for comment, _ in judged]


def _people(connection: sa.Connection, of: Iterable[Comment], before: datetime | None) -> _People:
    """Return how many comments of each author are published, and when the first came.

    An account's key is of one site.
    """
    account = comments.c.sender_account_key
    keys = {one.account_key for comment in of for one in comment.sender.generations}
    found: _People = {}
    for some in chunks(sorted(filter(None, keys))):
        query = (
            sa.select(account, sa.func.count().label("number"), _first)
            .outerjoin(decisions, sa.and_(comments.c.decided.is_(True), _in_force))
            # Never empty here, but the index is only used by a query that says so.
            .where(account.in_(some), account.is_not(None), _is_published)
            .group_by(account)
        )
        if before is not None:
            query = query.where(comments.c.received_at < before)
        for row in connection.execute(query):
            found[row.sender_account_key] = (row.number, row.first)
    return found


def _posts(connection: sa.Connection, under: Iterable[tuple[SiteId, str]]) -> _Posts:
    """Return when the first comment came under each of these posts."""
    columns = (comments.c.site_id, comments.c.post_url)
    found: _Posts = {}
    for some in chunks(sorted(set(under))):
        query = (
            sa.select(*columns, _first)
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
