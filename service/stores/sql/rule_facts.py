"""Reads from a SQL database what sites' rules need to know of a comment's author and post."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import Comment, SiteId
from service.domain.decision import Ruling
from service.domain.rules import RuleFacts, SiteRules
from service.domain.verdict import Outcome
from service.stores.sql.base.engine import reading
from service.stores.sql.base.statements import chunks, rows_in
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import comments, decisions, has_short_post_url

_account = comments.c.sender_account_key
_site, _url, _received = comments.c.site_id, comments.c.post_url, comments.c.received_at
_first = sa.func.min(_received).label("first")
_in_force = (decisions.c.comment_id == comments.c.id) & decisions.c.undone_at.is_(None)
_published = (
    sa.select(_account, sa.func.count().label("number"), _first)
    .outerjoin(decisions, comments.c.decided.is_(True) & _in_force)
    .where(
        # Never empty here, but the index is only used by a query that says so.
        _account.is_not(None),
        sa.or_(
            (comments.c.outcome == Outcome.HAM.value) & comments.c.decided.is_(False),
            decisions.c.ruling == Ruling.APPROVE.value,
        ),
    )
    .group_by(_account)
)
_posts = sa.select(_site, _url, _first).where(has_short_post_url).group_by(_site, _url)


class RuleFactStore(SqlStore):
    """Reads what rules need to know."""

    def find(
        self, judged: Sequence[tuple[Comment, SiteRules]], *, before: datetime | None = None
    ) -> list[RuleFacts]:
        """Return what the rules need to know of each comment, in order.

        At most two statements a thousand comments, none without a rule that asks. Of an author
        count only the comments received `before`.
        """
        accounts = {
            one.account_key
            for comment, rules in judged
            for one in comment.sender.generations
            if one.account_key
            and (rules.hold_first_comment or rules.link_min_approved or rules.link_min_days)
        }
        posts = {
            (comment.site_id, comment.post.url)
            for comment, rules in judged
            if rules.max_post_days and comment.post.url and not comment.post.published_at
        }
        if not accounts and not posts:
            return [RuleFacts()] * len(judged)
        published = _published if before is None else _published.where(_received < before)
        people: dict[str | None, tuple[int, datetime]] = {}
        seen: dict[tuple[SiteId, str | None], datetime] = {}
        with reading(self._engine) as connection:
            for key, number, first in rows_in(connection, published, _account, sorted(accounts)):
                people[key] = (number, first)
            for pairs in chunks(sorted(posts)):
                sites, urls = zip(*pairs, strict=True)
                query = _posts.where(_site.in_({*sites}), _url.in_({*urls}))
                for site_id, url, first in connection.execute(query):
                    seen[site_id, url] = first
        found = []
        for comment, _ in judged:
            keys = {one.account_key for one in comment.sender.generations}
            known = [people[key] for key in keys if key in people]
            found.append(
                RuleFacts(
                    approved=sum(number for number, _ in known),
                    first_approved=min((first for _, first in known), default=None),
                    post_seen=seen.get((comment.site_id, comment.post.url)),
                )
            )
        return found
