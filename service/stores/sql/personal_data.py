"""Finds and deletes personal data in a SQL database."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from service.domain.case import (
    MAX_COUNTED,
    MAX_LAST,
    MAX_LINKED_DOMAINS,
    MAX_OTHER_NAMES,
    SenderRecord,
    SpamOnly,
    Trait,
    TraitRecord,
    keys_of,
    person_keys,
)
from service.domain.comment import Comment, CommentId, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.delivery import Delivery
from service.domain.sender import Person
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry, CountAct
from service.signals.view import linked_domains
from service.stores.cursor import REST_RANK
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import SiteIds, SqlStore, execute_in, rows_in, transaction
from service.stores.sql.campaigns import delete_traits
from service.stores.sql.cases import load_cases
from service.stores.sql.deliveries import insert_deliveries
from service.stores.sql.engine import reading
from service.stores.sql.list_entries import erase_copies
from service.stores.sql.rows import Row, sender_values, sent_values
from service.stores.sql.search import domain_need, leave_out, match_terms, matching, site_needs
from service.stores.sql.tables import (
    audit_log,
    comments,
    decisions,
    is_held_as_spam,
    is_in_force,
    is_kept_and_judged,
    search_docs,
    waits_for_review,
)

# Fields that withdrawing keeps. The excerpt is deleted, because it may quote other people.
_KEPT_COLUMNS = frozenset(
    {"site_comment_id", "written_at", "language", "reply_to", "post_url", "post_title", "kind"}
)
_NOBODYS = Comment(id=CommentId("-"), site_id=SiteId("-"), text="", received_at=datetime.now(UTC))
_BLANK = {
    **{name: value for name, value in sent_values(_NOBODYS).items() if name not in _KEPT_COLUMNS},
    "content_key": None,
    "review_rank": REST_RANK,
    "campaign_id": None,
    "second_opinion": None,
    "appeal": None,
    "appealed_at": None,
}


class PersonalDataStore(SqlStore):
    """Finds a person's comments, and old comments, and deletes their personal data.

    Summarizes a sender's other comments.
    """

    def find(self, person: Person, *, after: CommentId | None, limit: int) -> list[CommentId]:
        """Return the ids of a person's comments after `after`, ascending.

        They have an address, e-mail or name key of `person.sender`, including keys from before a
        rotation, or exactly the name `person.author_name`. Withdrawn comments are excluded. Reads
        every comment.
        """
        query = sa.select(comments.c.id).where(_is_of(person)).order_by(comments.c.id).limit(limit)
        if after is not None:
            query = query.where(comments.c.id > after)
        return self._list(query, lambda row: row.id)

    def count_by_site(self, person: Person) -> Mapping[SiteId, int]:
        """Return the number of comments that `find` returns, by site, without zeros."""
        query = (
            sa.select(comments.c.site_id, sa.func.count())
            .where(_is_of(person))
            .group_by(comments.c.site_id)
        )
        return {SiteId(site_id): count for site_id, count in self._rows(query)}

    def find_old(
        self, *, received_before: datetime, only: SpamOnly | None = None, limit: int
    ) -> list[CommentId]:
        """Return comments received before then whose text is still stored, in no order.

        Comments that wait for a verdict or a decision are excluded. With `only`, so
        are those with a decision undone since then; with HELD also those whose site changed its
        mode since then.
        """
        # One query per outcome, because the index sorts by outcome and age.
        queries = [_old(outcome, received_before) for outcome in Outcome]
        if only is SpamOnly.NOT_APPROVED:
            queries = [_old(Outcome.SPAM, received_before)]
        if only is SpamOnly.HELD:
            queries = [sa.select(comments.c.id).where(comments.c.received_at < received_before)]
        found: list[CommentId] = []
        with reading(self._engine) as tx:
            for query in queries:
                if len(found) == limit:
                    break
                query = query.where(*_CONDITIONS[only]).limit(limit - len(found))
                if only is not None:
                    undone_since = sa.exists().where(
                        decisions.c.comment_id == comments.c.id,
                        decisions.c.undone_at >= received_before,
                    )
                    query = query.where(sa.not_(undone_since))
                if only is SpamOnly.HELD:
                    # The audit log shows when the mode was last changed.
                    changed = sa.select(audit_log.c.subject).where(
                        audit_log.c.act == "change settings",
                        audit_log.c.at >= received_before,
                        audit_log.c.detail.startswith("mode: "),
                    )
                    query = query.where(comments.c.site_id.not_in(changed))
                found += tx.scalars(query)
        return found

    @transaction
    def withdraw(
        self,
        tx: sa.Connection,
        ids: Sequence[CommentId],
        *,
        at: datetime,
        act: CountAct | None = None,
        deliveries: Sequence[Delivery] = (),
        only: SpamOnly | None = None,
    ) -> int:
        """Delete the comments' text, names and senders; return how many were withdrawn now.

        Deletes the text, author, sender's keys, user agent, excerpt, traits, appeal, moderators'
        notes and the verdict's copy of a list entry, and removes the comment from its campaign and
        all queues. Verdict, decisions and log stay for the figures, digests to recognise a REPEAT.

        Comments that no longer match `only` are skipped. `deliveries` of the others, and the result
        of `act`, called for 0 too, are stored in the same transaction.
        """
        # Sorted, so that concurrent calls lock the same ids in the same order.
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
        # A moderator's note may name or quote the person.
        unnote = sa.update(decisions).where(decisions.c.note.is_not(None)).values(note=None)
        execute_in(tx, unnote, decisions.c.comment_id, withdrawn)
        erase_copies(tx, withdrawn)
        leave_out(tx, withdrawn)
        delete_traits(tx, withdrawn)
        insert_deliveries(tx, [one for one in deliveries if one.comment_id in withdrawn])
        insert_entries(tx, act(len(withdrawn)) if act else None)
        return len(withdrawn)

    @transaction
    def erase_senders(
        self, tx: sa.Connection, ids: Sequence[CommentId], *, act: AuditEntry | None = None
    ) -> None:
        """Set the comments' sender to `Sender()` and delete their traits."""
        # Sorted, so that concurrent calls lock the same ids in the same order.
        wanted = sorted(set(ids))
        execute_in(tx, sa.update(comments).values(**sender_values(Sender())), comments.c.id, wanted)
        delete_traits(tx, wanted)
        insert_entries(tx, act)

    def look_up(self, comment: Comment, *, site_ids: SiteIds) -> SenderRecord:
        """Return the rulings on the sender's newest other comments, `MAX_COUNTED` per trait."""
        domains = linked_domains(comment)[:MAX_LINKED_DOMAINS]
        by_key, personal = keys_of(comment), person_keys(comment)
        asked = [(trait, keys[0]) for trait, keys in by_key.items()]
        asked += [(Trait.DOMAIN, domain) for domain in domains]
        dialect, limited = self._engine.dialect.name, site_ids is not None
        given: dict[str, Any] = {"own_id": comment.id, "site_ids": site_ids}
        for trait, keys in by_key.items():
            given |= {f"{trait.name}_{number}": key for number, key in enumerate(keys)}
        for number, domain in enumerate(domains):
            needs = [domain_need(domain), *site_needs(site_ids)]
            given[f"{Trait.DOMAIN.name}_{number}"] = match_terms(dialect, needs)
        rows: Sequence[Row] = ()
        newest: Sequence[Row] = ()
        with reading(self._engine) as tx:
            if asked:
                query = _counts(dialect, _shape(by_key), len(domains), limited=limited)
                rows = tx.execute(query, given).all()
            if personal:
                query = _newest(_shape(personal), limited=limited)
                found = sorted(
                    tx.execute(query, given), key=attrgetter("received_at"), reverse=True
                )
                newest = sorted(found, key=attrgetter("place"))
            last = {row.id: row.received_at for row in newest}
            ids = sorted(sorted(last), key=lambda one: last[one], reverse=True)
            cases = load_cases(tx, ids[:MAX_LAST])
        traits = tuple(
            TraitRecord(
                trait=asked[row.place][0],
                key=asked[row.place][1],
                seen=min(row.seen, MAX_COUNTED),
                approved=row.approved,
                rejected=row.rejected,
                waiting=row.waiting,
                # One more than is counted is read.
                capped=row.seen > MAX_COUNTED,
            )
            for row in sorted(rows, key=attrgetter("place"))
        )
        names = () if Trait.NAME in personal else dict.fromkeys(row.author_name for row in newest)
        others = [name for name in names if name and name != comment.author.name]
        return SenderRecord(
            traits=traits, other_names=tuple(others[:MAX_OTHER_NAMES]), last=tuple(cases)
        )


def _is_of(person: Person) -> sa.ColumnElement[bool]:
    known_by: list[sa.ColumnElement[bool]] = [sa.false()]
    # Network, autonomous system and mail domain are excluded, because people share them.
    for name in ("address_key", "email_key", "name_key"):
        of_all = (getattr(one, name) for one in person.sender.generations)
        keys = [key for key in of_all if key is not None]
        if keys:
            known_by.append(comments.c[f"sender_{name}"].in_(keys))
    if person.author_name is not None:
        known_by.append(comments.c.author_name == person.author_name)
    return sa.or_(*known_by) & comments.c.withdrawn_at.is_(None)


def _old(outcome: Outcome, received_before: datetime) -> sa.Select[tuple[CommentId]]:
    # Sorted like `ix_comments_age`: otherwise PostgreSQL may begin with the oldest of all and read
    # comments that were withdrawn before.
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


_is_approved = sa.exists().where(is_in_force, decisions.c.ruling == Ruling.APPROVE.value)
_CONDITIONS: dict[SpamOnly | None, list[sa.ColumnElement[bool]]] = {
    None: [],
    SpamOnly.NOT_APPROVED: [sa.not_(_is_approved)],
    SpamOnly.HELD: [is_held_as_spam],
}


_COLUMNS = {
    Trait.ADDRESS: comments.c.sender_address_key,
    Trait.NETWORK: comments.c.sender_network_key,
    Trait.EMAIL: comments.c.sender_email_key,
    Trait.NAME: comments.c.sender_name_key,
}
# The columns to read; the full row is wide.
_READ_COLUMNS = (
    comments.c.id,
    comments.c.received_at,
    comments.c.author_name,
    comments.c.decided,
    sa.case((waits_for_review, 1), else_=0).label("waits"),
)
# The number of newest comments with the same address or e-mail in which names are searched.
_MAX_SEARCHED_FOR_NAMES = 200
# The number of keys by trait; during a rotation there are two.
_Shape = tuple[tuple[Trait, int], ...]
_SITE_IDS: sa.BindParameter[Any] = sa.bindparam("site_ids", expanding=True)
_is_other = comments.c.id != sa.bindparam("own_id")


def _shape(by_trait: Mapping[Trait, Sequence[str]]) -> _Shape:
    return tuple((trait, len(keys)) for trait, keys in by_trait.items())


# Kept, because to build one takes much longer than to run it.
@lru_cache(maxsize=64)
def _counts(dialect: str, shape: _Shape, domains: int, *, limited: bool) -> sa.CompoundSelect[Any]:
    """Return the query that counts a sender's other comments by trait and ruling."""
    most = MAX_COUNTED + 1
    found = [_with_key(trait, number, limited=limited, limit=most) for trait, number in shape]
    found += [_with_domain(dialect, number, limited=limited) for number in range(domains)]
    return sa.union_all(*(_count(place, one) for place, one in enumerate(found)))


@lru_cache(maxsize=64)
def _newest(shape: _Shape, *, limited: bool) -> sa.CompoundSelect[Any]:
    """Return the query for a person's newest other comments by trait."""
    limit = MAX_LAST if shape[0][0] is Trait.NAME else _MAX_SEARCHED_FOR_NAMES
    arms = []
    for place, (trait, number) in enumerate(shape):
        told = _with_key(trait, number, limited=limited, limit=limit).subquery()
        columns = (told.c.id, told.c.received_at, told.c.author_name)
        arms.append(sa.select(sa.literal(place).label("place"), *columns))
    return sa.union_all(*arms)


def _with_key(trait: Trait, number: int, *, limited: bool, limit: int) -> sa.Select[Any]:
    """Return the query for the newest other comments with one of so many keys."""
    found = []
    for place in range(number):
        has_key = _COLUMNS[trait] == sa.bindparam(f"{trait.name}_{place}")
        query = sa.select(*_READ_COLUMNS).where(has_key, _is_other)
        if limited:
            query = query.where(comments.c.site_id.in_(_SITE_IDS))
        found.append(query.order_by(comments.c.received_at.desc()).limit(limit))
    if len(found) == 1:
        return found[0]
    # One query per key, because the index sorts by time within one key.
    either = sa.union(*(sa.select(one.subquery()) for one in found)).subquery()
    return sa.select(either).order_by(either.c.received_at.desc()).limit(limit)


def _with_domain(dialect: str, number: int, *, limited: bool) -> sa.Select[Any]:
    docs, place = matching(dialect, sa.bindparam(f"{Trait.DOMAIN.name}_{number}", type_=sa.String))
    if limited:
        docs = docs.where(search_docs.c.site_id.in_(_SITE_IDS))
    found = docs.order_by(place.desc()).limit(MAX_COUNTED + 2).subquery()
    query = sa.select(*_READ_COLUMNS).join_from(found, comments, comments.c.id == found.c.id)
    return query.where(_is_other).limit(MAX_COUNTED + 1)


def _count(place: int, found: sa.Select[Any]) -> sa.Select[Any]:
    """Return the query that counts these comments by ruling, in a row numbered `place`."""
    told = found.subquery()
    in_force = sa.and_(decisions.c.comment_id == told.c.id, decisions.c.undone_at.is_(None))
    ruling = sa.select(decisions.c.ruling).where(in_force).limit(1).scalar_subquery()
    each = sa.select(
        # Most are not decided and need no lookup.
        sa.case((told.c.decided, ruling)).label("ruling"),
        told.c.waits,
    ).subquery()
    columns: list[sa.ColumnElement[Any]] = [
        sa.literal(place).label("place"),
        sa.func.count().label("seen"),
        _sum(sa.case((each.c.ruling == Ruling.APPROVE.value, 1), else_=0)).label("approved"),
        _sum(sa.case((each.c.ruling == Ruling.REJECT.value, 1), else_=0)).label("rejected"),
        _sum(each.c.waits).label("waiting"),
    ]
    return sa.select(*columns).select_from(each)


def _sum(of_each: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    # The sum of no rows is NULL.
    return sa.func.coalesce(sa.func.sum(of_each), 0)
