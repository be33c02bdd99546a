"""Stores verdicts, the facts that rules need, reports and appeals in a SQL database."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from service.campaigns.traits import Traits
from service.domain.case import Case
from service.domain.comment import Comment, CommentId, Report, SiteId
from service.domain.decision import Action, Ruling
from service.domain.delivery import Delivery
from service.domain.rules import RuleFacts, SiteRules
from service.domain.verdict import Outcome, SecondOpinion, Verdict
from service.ports.audit import AuditEntry
from service.ports.delivery import Tell
from service.stores.cursor import APPEAL_RANK, REST_RANK, UNSURE_RANK
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import (
    SqlStore,
    chunks,
    insert_new,
    refuse_unknown,
    rows_in,
    transaction,
)
from service.stores.sql.campaigns import insert_traits
from service.stores.sql.cases import load_cases
from service.stores.sql.deliveries import hasten_callbacks, insert_deliveries, insert_of_locked
from service.stores.sql.engine import reading
from service.stores.sql.list_entries import erase_copies
from service.stores.sql.review_queue import (
    POSITION_COLUMNS,
    lock_position,
    mode_of,
    place_waiting,
    position_from,
    rank_of,
    review_at_of,
)
from service.stores.sql.rows import (
    SENDER_COLUMNS,
    Row,
    Values,
    report_values,
    second_opinion_from,
    settings_from,
    verdict_values,
)
from service.stores.sql.search import mark_for_index
from service.stores.sql.tables import (
    comments,
    decisions,
    has_short_post_url,
    is_in_force,
    reports,
    sites,
    verdicts,
    waits_for_review,
    waits_for_verdict,
)

_has_sender = sa.or_(*(comments.c[f"sender_{name}"].is_not(None) for name in SENDER_COLUMNS))
_is_unsure = sa.and_(waits_for_review, comments.c.review_rank == UNSURE_RANK)


class VerdictStore(SqlStore):
    """Stores verdicts, one per comment and never changed, and second opinions.

    Reads the facts about a comment's author and post that sites' rules need.
    """

    @transaction
    def add(
        self,
        tx: sa.Connection,
        verdicts: Sequence[Verdict],
        *,
        audit: frozenset[CommentId],
        deliveries: Sequence[Delivery] = (),
        tell: Tell | None = None,
        traits: Sequence[Traits] = (),
    ) -> list[CommentId]:
        """Store the verdicts of comments that have none; return the ids of those comments.

        Comments in `audit` go to moderators as the random audit sample. `deliveries` and `traits`
        of the returned comments are stored in the same transaction, but no traits of senders nor
        reasons of entries that were erased meanwhile. For comments that are already decided or
        reported, the result of `tell` is stored instead of `deliveries`.
        """
        first = {verdict.comment_id: verdict for verdict in reversed(verdicts)}
        if not first:
            return []
        positions = _add(tx, first, audit)
        # A few were decided or reported before their verdict, so their messages lack it.
        spoken_of = sorted(key for key, row in positions.items() if row.decided or row.reported_as)
        told = [one for one in deliveries if one.comment_id in positions.keys() - spoken_of]
        if tell and spoken_of:
            told += tell(load_cases(tx, spoken_of))
        hasten_callbacks(tx, sorted(positions), at=verdicts[0].judged_at)
        insert_of_locked(tx, told)
        if copies := [key for key in positions if first[key].instruction]:
            erase_copies(tx, copies, forgotten=True)
        # Excludes senders who were erased while their comment was judged.
        kept = [
            one
            for one in traits
            if (row := positions.get(one.comment_id)) and (row.has_sender or not one.has_sender)
        ]
        insert_traits(tx, kept)
        return [key for key in first if key in positions][::-1]

    def next_without_opinion(self, *, most_attempts: int) -> Case | None:
        """Return the unsure comment with the fewest attempts, the first in the review queue."""
        opinion = comments.c.second_opinion
        attempts = sa.func.coalesce(opinion["attempts"].as_integer(), 0)
        query = (
            sa.select(comments.c.id)
            .where(_is_unsure, opinion["outcome"].as_string().is_(None), attempts < most_attempts)
            .order_by(attempts, comments.c.review_at, comments.c.id)
            .limit(1)
        )
        with reading(self._engine) as tx:
            return next(iter(load_cases(tx, list(tx.scalars(query)))), None)

    @transaction
    def add_opinion(
        self, tx: sa.Connection, comment_id: CommentId, opinion: SecondOpinion | None
    ) -> bool:
        """Count an attempt; return True if the opinion was stored, which may move the comment."""
        is_it = comments.c.id == comment_id
        query = sa.select(comments.c.site_id, comments.c.second_opinion).where(is_it, _is_unsure)
        row = tx.execute(query.with_for_update(key_share=True)).one_or_none()
        if row is None or second_opinion_from(row.second_opinion):
            return False
        values = {"attempts": (row.second_opinion or {}).get("attempts", 0) + 1}
        if opinion is not None:
            values |= {"outcome": opinion.outcome.value, "reason": opinion.reason}
        tx.execute(sa.update(comments).where(is_it).values(second_opinion=values))
        place_waiting(tx, row.site_id, None, 1, is_it)
        return opinion is not None

    def find_rule_facts(
        self, judged: Sequence[tuple[Comment, SiteRules]], *, before: datetime | None = None
    ) -> list[RuleFacts]:
        """Return the facts of each comment, in order; an author's comments count until `before`.

        It runs two statements per thousand comments, and none if no rule needs facts.
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
        seen: dict[tuple[SiteId, str | None], datetime] = {}
        with reading(self._engine) as tx:
            rows = rows_in(tx, published, _account, sorted(accounts))
            people = {key: (number, first) for key, number, first in rows}
            for pairs in chunks(sorted(posts)):
                sites, urls = zip(*pairs, strict=True)
                query = _posts.where(_site.in_({*sites}), _url.in_({*urls}))
                for site_id, url, first in tx.execute(query):
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


def _add(
    tx: sa.Connection, new: Mapping[CommentId, Verdict], audit: frozenset[CommentId]
) -> dict[CommentId, Row]:
    """Store verdicts; return the previous rows of the comments whose verdicts were stored."""
    positions: dict[CommentId, Row] = {}
    for some in chunks(sorted(new)):
        # The comment's row is the lock: a concurrent call finds the outcome there.
        query = (
            sa.select(*POSITION_COLUMNS, _has_sender.label("has_sender"), sites.c.settings)
            .join(sites, sites.c.id == comments.c.site_id)
            .where(comments.c.id.in_(some), waits_for_verdict)
            .order_by(comments.c.id)
            .with_for_update(key_share=True, of=comments)
        )
        positions.update((row.id, row) for row in tx.execute(query))
    if not positions:
        return {}
    tx.execute(sa.insert(verdicts), [verdict_values(new[key]) for key in positions])
    tx.execute(
        sa.update(comments).where(comments.c.id == sa.bindparam("judged_id")),
        [_judged_values(row, new[key], audit=key in audit) for key, row in positions.items()],
    )
    mark_for_index(tx, list(positions))
    return positions


def _judged_values(row: Row, verdict: Verdict, *, audit: bool) -> Values:
    judged = replace(
        position_from(row), outcome=verdict.outcome, p_spam=verdict.p_spam, audit=audit
    )
    return {
        "judged_id": judged.id,
        "outcome": verdict.outcome.value,
        "degraded": verdict.degraded,
        "p_spam": verdict.p_spam,
        "audit": audit,
        "review_rank": rank_of(judged),
        "review_at": review_at_of(judged, mode=settings_from(row.settings).mode),
    }


_account = comments.c.sender_account_key
_site, _url, _received = comments.c.site_id, comments.c.post_url, comments.c.received_at
_first = sa.func.min(_received).label("first")
_published = (
    sa.select(_account, sa.func.count().label("number"), _first)
    .outerjoin(decisions, comments.c.decided.is_(True) & is_in_force)
    .where(
        # Always true here, but PostgreSQL and SQLite use the partial index only with it.
        _account.is_not(None),
        sa.or_(
            (comments.c.outcome == Outcome.HAM.value) & comments.c.decided.is_(False),
            decisions.c.ruling == Ruling.APPROVE.value,
        ),
    )
    .group_by(_account)
)
_posts = sa.select(_site, _url, _first).where(has_short_post_url).group_by(_site, _url)


class ReportStore(SqlStore):
    @transaction
    def add(self, tx: sa.Connection, report: Report, *, tell: Tell | None = None) -> bool:
        """Store a report; return True if it was new.

        A known id, or the same label as the comment's newest report, changes nothing. A report that
        contradicts the verdict puts an undecided comment into the review queue; if it was not
        there, the result of `tell` is stored. Raise `NotFoundError` for an unknown site, or a
        comment that is unknown or of another site.
        """
        if report.comment_id is None:
            refuse_unknown(tx, sites, report.site_id, "site")
            return insert_new(tx, reports, report_values(report))
        is_of_site = comments.c.site_id == report.site_id
        comment = lock_position(tx, report.comment_id, is_of_site)
        if comment.reported_as is report.label:
            return False
        if not insert_new(tx, reports, report_values(report)):
            return False
        reported = replace(comment, reported_as=report.label)
        tx.execute(
            sa.update(comments)
            .where(comments.c.id == comment.id)
            .values(
                reported_as=report.label.value,
                review_rank=rank_of(reported),
                review_at=review_at_of(reported, mode=mode_of(tx, comment.site_id)),
            )
        )
        if tell is not None and rank_of(reported) < REST_RANK == rank_of(comment):
            insert_deliveries(tx, tell(load_cases(tx, [comment.id])))
        return True

    @transaction
    def appeal(
        self, tx: sa.Connection, comment_id: CommentId, text: str, *, act: AuditEntry
    ) -> bool:
        """Store an author's appeal; return False for a second appeal or a published comment.

        A judged comment moves to the front of the review queue. Raise `NotFoundError` if it is
        unknown or withdrawn.
        """
        position = lock_position(tx, comment_id, comments.c.withdrawn_at.is_(None))
        # It may have been approved since the author read why it is held.
        (case,) = load_cases(tx, [comment_id])
        if case.appeal is not None or case.action is Action.PUBLISH:
            return False
        rank = rank_of(replace(position, review_rank=APPEAL_RANK))
        tx.execute(
            sa.update(comments)
            .where(comments.c.id == comment_id)
            .values(appeal=text, appealed_at=act.at, review_rank=rank)
        )
        insert_entries(tx, act)
        return True
