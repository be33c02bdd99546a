"""What pages and upkeep ask is answered from indexes: the planner says so, of 20,000 real rows.

The statements are caught on their way to the database, so that the code's own ones are explained.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from service.domain.case import CaseFilter, Order, SpamOnly
from service.domain.comment import Author, CommentId, Lane, Sender, SiteId
from service.domain.rules import SiteRules
from service.domain.search import parse_search
from service.domain.sender import Person
from service.domain.site import Site
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.stores.sql import SqlStores, create_engine
from service.stores.sql.comments import comment_values
from service.stores.sql.deliveries import delivery_values
from service.stores.sql.rows import Values, decision_values, verdict_values
from service.stores.sql.search import first_place, terms_of, written
from service.stores.sql.tables import (
    campaigns,
    comment_traits,
    comments,
    decisions,
    deliveries,
    metadata,
    search_docs,
    verdicts,
)
from tests.factories import NOW, make_comment, make_decision, make_delivery, make_verdict

ROWS = 20_000
SITES = tuple(f"site-{number}" for number in range(20))
_MANY = 2_000
_DELIVERIES = 3_000
_DECIDED_EVERY = 25
# A multiple of the sites, as the terms name the site too.
_TEXTS = 100
# Of messages and of decisions that histories have to learn.
_OPEN = 20


def comment_id(number: int) -> CommentId:
    """Return the id of the comment with this number, the newest of which is the last."""
    return CommentId(f"com_{number:06d}")


def _outcome(number: int) -> Outcome | None:
    """Return the outcome: of a hundred comments one is pending, five are unsure."""
    part = number % 100
    if part == 0:
        return None
    return Outcome.UNSURE if part <= 5 else Outcome.SPAM if part <= 40 else Outcome.HAM


def fill_many(engine: sa.Engine) -> None:
    """Keep 20,000 comments of 20 sites over four months, judged, findable, some in campaigns.

    Some are decided, and some have messages, all but the newest of which are delivered.
    """
    stores = SqlStores(engine)
    for site_id in SITES:
        stores.sites.add(Site(id=site_id, name=site_id, created_at=NOW))
    with engine.begin() as connection:
        examples = [_example(connection, number) for number in range(_TEXTS)]
        for first in range(0, ROWS, _MANY):
            rows = defaultdict(list)
            for number in range(first, first + _MANY):
                for table, row in _rows(number, *examples[number % _TEXTS]):
                    rows[table].append(row)
            for table, some in rows.items():
                connection.execute(sa.insert(table), some)
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("INSERT INTO search_fts(search_fts) VALUES('rebuild')")
    analyse = "ANALYZE" if engine.dialect.name == "sqlite" else "VACUUM ANALYZE"
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # As the database does by itself some minutes after so much came in.
        connection.exec_driver_sql(analyse)


def _example(connection: sa.Connection, number: int) -> tuple[Values, Values, str]:
    comment = make_comment(
        f"radiator number{number} see https://shop-{number}.example/offer",
        author=Author(name=f"Mara {number}"),
        site_id=SiteId(SITES[number % len(SITES)]),
    )
    new = NewComment(comment=comment, lane=Lane.BULK)
    verdict = make_verdict(comment.id, Outcome.SPAM)
    terms = written(connection, terms_of(comment, verdict, audit=False))
    return comment_values(new), verdict_values(verdict), terms


def _rows(
    number: int, comment: Values, verdict: Values, terms: str
) -> Iterator[tuple[sa.Table, Values]]:
    """Yield the rows of the comment with this number."""
    one, site_id = comment_id(number), SITES[number % len(SITES)]
    at = NOW - timedelta(minutes=9 * (ROWS - number))
    outcome = _outcome(number)
    is_decided = outcome is not None and number % _DECIDED_EVERY == 1
    grouped, campaign_id = number % 4 == 1, f"cam_{number // 40:04d}"
    sender = sender_of(number)
    if number % 40 == 0:
        yield campaigns, {"id": campaign_id, "created_at": NOW, "last_seen_at": NOW}
    digest = f"{number:064x}"
    yield (
        comments,
        comment
        | dict.fromkeys(("received_at", "review_at", "queued_at"), at)
        | dict.fromkeys(("fingerprint", "site_comment_digest", "content_key"), digest)
        | {
            "id": one,
            "site_id": site_id,
            "outcome": outcome.value if outcome else None,
            "degraded": None if outcome is None else False,
            "p_spam": None if outcome is None else 0.5,
            "decided": is_decided,
            "review_rank": 0 if outcome is Outcome.UNSURE and not is_decided else 2,
            "campaign_id": campaign_id if grouped else None,
            "author_name": f"Mara {number % 500}",
            "sender_address_key": sender.address_key,
            "sender_network_key": sender.network_key,
            "sender_email_key": sender.email_key,
            "sender_name_key": sender.name_key,
        },
    )
    yield (
        search_docs,
        {"seq": first_place(at), "comment_id": one, "site_id": site_id, "terms": terms},
    )
    if outcome is not None:
        yield verdicts, verdict | {"comment_id": one, "judged_at": at}
    if grouped:
        traits = {"embedding": None, "space": "made up", "copies": [], "grouped_at": at}
        yield (
            comment_traits,
            traits | {"comment_id": one, "targets": [f"shop-{number % 50}.example"]},
        )
    if is_decided:
        waits = NOW if number < _DECIDED_EVERY * _OPEN else None
        decision = decision_values(make_decision(f"dec_{number}", one, decided_by="Ola"))
        yield decisions, decision | {"unremembered_since": waits}
    if number < _DELIVERIES:
        waits = number >= _DELIVERIES - _OPEN
        delivered = {"state": "delivered", "due_at": None, "ended_at": NOW}
        delivery = delivery_values(make_delivery(one, site_id=site_id)) | {"due_at": NOW}
        yield deliveries, delivery if waits else delivery | delivered


def sender_of(number: int) -> Sender:
    """Return the sender of the comment with this number."""
    return Sender(
        address_key=f"{number % 3_000:032x}",
        network_key=f"{number % 900:032x}",
        email_key=f"{number % 2_000:032x}",
        email_domain="mail.example",
        name_key=f"{number % 500:032x}",
    )


# Whatever reads these from end to end grows with the archive.
LARGE = {"comments", "verdicts", "search_docs", "search_fts"}
# A scan that a LIMIT ends after so small a part of it, as the planner expects, does not grow.
_SMALL_PART = 0.25
PARTIAL = {
    index.name
    for table in metadata.tables.values()
    for index in table.indexes
    if index.dialect_options["sqlite"]["where"] is not None
}
_QUEUE = CaseFilter(needs_review=True)
_HELD = CaseFilter(held_as_spam=True)
_OLD = NOW - timedelta(minutes=9 * (ROWS - 300))
_RECENT = NOW - timedelta(minutes=9 * 200)


def queue_pages(stores: SqlStores) -> None:
    """Ask for the queue: of all sites, of one, of two, and for its second page."""
    for criteria in (
        _QUEUE,
        CaseFilter(needs_review=True, site_ids=SITES[:1]),
        CaseFilter(needs_review=True, site_ids=SITES[:2]),
    ):
        first = stores.cases.page(criteria, order=Order.REVIEW, cursor=None, limit=25)
        stores.cases.page(criteria, order=Order.REVIEW, cursor=first.next_cursor, limit=25)


def search(line: str, site_ids: tuple[str, ...] | None = None) -> Callable[[SqlStores], object]:
    """Return a function that searches for a line and counts the results."""
    query = parse_search(line)

    def ask(stores: SqlStores) -> None:
        page = stores.search.find(query, site_ids=site_ids, cursor=None, limit=25)
        assert page.items, line
        stores.search.count(query, site_ids=site_ids, limit=1_000)

    return ask


_RULED = make_comment(sender=Sender(account_key="a"), site_id=SITES[0])
_RULES = SiteRules(hold_first_comment=True, max_post_days=9)
ASKED: dict[str, Callable[[SqlStores], object]] = {
    "queue": queue_pages,
    "queue counted": lambda s: s.cases.count(_QUEUE),
    "what rules need": lambda s: s.verdicts.find_rule_facts([(_RULED, _RULES)]),
    "newest of a site": lambda s: s.cases.page(
        CaseFilter(site_ids=SITES[:1]), order=Order.NEWEST, cursor=None, limit=25
    ),
    "spam of a site": lambda s: s.cases.page(
        CaseFilter(site_ids=SITES[3:4], outcome=Outcome.SPAM),
        order=Order.NEWEST,
        cursor=None,
        limit=25,
    ),
    "what a site shows under a post": lambda s: s.cases.published(
        SITES[3], ["https://blog.example/p/1", "https://blog.example/p/1/"], offset=0, limit=201
    ),
    "one comment": lambda s: s.cases.get(comment_id(77)),
    "who began to wait": lambda s: s.cases.newcomers(
        _QUEUE, received_after=_RECENT, judged_after=_RECENT, limit=100
    ),
    "a sender's record": lambda s: s.personal_data.look_up(
        make_comment(id=comment_id(5), sender=sender_of(5)), site_ids=None
    ),
    "campaigns": lambda s: s.campaigns.page(
        site_ids=None, waiting_only=True, cursor=None, limit=20
    ),
    "most waiting campaigns": lambda s: s.campaigns.most_waiting(site_ids=None, limit=3),
    "one campaign": lambda s: s.campaigns.get("cam_0007", site_ids=None),
    "a campaign's members": lambda s: s.campaigns.members(
        "cam_0007", site_ids=None, waiting_only=False, cursor=None, limit=60
    ),
    "search: a word": search("number77"),
    "search: a common word": search("radiator"),
    "search: a phrase": search('"radiator number7"'),
    "search: a domain": search("domain:shop-7.example"),
    "search: days": search("radiator from:2026-01-01"),
    "search: a site's": search("number7", SITES[7:8]),
    "search: what was rejected": search("decision:reject number1"),
    "search: five thousand ids": lambda s: s.search.ids(
        parse_search("number7"), site_ids=None, limit=5_000
    ),
    "sweep": lambda s: [
        s.comments.find_stranded(
            lane, queued_before=NOW, received_before=NOW - timedelta(minutes=5), limit=1_000
        )
        for lane in Lane
    ],
    "pending ones counted": lambda s: s.comments.count_pending(),
    "a batch to judge": lambda s: s.comments.load_unjudged([comment_id(100), comment_id(200)]),
    "a report's comment by content": lambda s: s.comments.find_by_content(
        SITES[7], f"{7:064x}", since=NOW - timedelta(days=400)
    ),
    "comments by the site's ids": lambda s: s.comments.find_by_site_ids(SITES[0], ["a", "b"]),
    "callbacks due": lambda s: s.deliveries.take_due(
        NOW, until=NOW + timedelta(minutes=2), limit=100
    ),
    "delivered callbacks to delete": lambda s: s.deliveries.prune(
        delivered_before=NOW - timedelta(days=30), limit=1_000
    ),
    "decisions that histories miss": lambda s: s.decisions.find_unremembered(limit=500),
    "decisions in force, a portion": lambda s: s.decisions.find_in_force(after=10, limit=50),
    "comments not to be kept": lambda s: s.comments.find_unkept(
        since=_RECENT, before=NOW, limit=200
    ),
    "old comments": lambda s: s.personal_data.find_old(received_before=_OLD, limit=200),
    "old spam": lambda s: s.personal_data.find_old(
        received_before=_OLD, only=SpamOnly.NOT_APPROVED, limit=200
    ),
    "old held spam": lambda s: s.personal_data.find_old(
        received_before=_OLD, only=SpamOnly.HELD, limit=200
    ),
    "held spam": lambda s: s.cases.page(_HELD, order=Order.DOUBT, cursor=None, limit=25),
    "held spam counted": lambda s: s.cases.count(_HELD),
    "held spam of one site counted": lambda s: s.cases.count(
        CaseFilter(held_as_spam=True, site_ids=SITES[:1])
    ),
    "comments to group": lambda s: s.campaigns.fresh(limit=100),
    "next for the second judge": lambda s: s.verdicts.next_without_opinion(most_attempts=3),
    "comments to index": lambda s: s.search.index_due(limit=200),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def plans(request, new_database) -> Iterator[Callable[[Callable[[SqlStores], object]], list[str]]]:
    """Give a function that returns how the planner would read what is asked."""
    with new_database(request.param) as url:
        engine = create_engine(url, lock_timeout_ms=20_000)
        fill_many(engine)
        stores = SqlStores(engine)
        caught: list[tuple[str, object]] = []

        def catch(_connection, _cursor, said, parameters, *_more):
            if said.split()[0] in {"SELECT", "UPDATE", "DELETE", "WITH"}:
                caught.append((said, parameters))

        sa.event.listen(engine, "before_cursor_execute", catch)

        def explain(ask: Callable[[SqlStores], object]) -> list[str]:
            caught.clear()
            ask(stores)
            asked = list(caught)
            assert asked
            with engine.connect() as connection:
                return [step for said, given in asked for step in plan_of(connection, said, given)]

        yield explain
        engine.dispose()


def plan_of(connection: sa.Connection, said: str, given: object) -> list[str]:
    """Return the steps of a plan: full scans as `table`, and the indexes that it uses."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {said}", given).all()
        return [step for row in rows for step in _sqlite_step(row.detail, said)]
    [plan] = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {said}", given).scalars()
    steps = json.loads(plan) if isinstance(plan, str) else plan
    return list(_postgresql_steps(steps[0]["Plan"]))


def _postgresql_steps(node: dict[str, Any], part: float = 1.0) -> Iterator[str]:
    """Yield the steps below; `part` is how much of them is read before a LIMIT ends it."""
    if node["Node Type"] == "Seq Scan" and part > _SMALL_PART:
        yield f"scan {node['Relation Name']}"
    elif "Index Name" in node:
        yield f"index {node['Index Name']}"
    for inner in node.get("Plans", ()):
        of_it = node["Total Cost"] / inner["Total Cost"] if node["Node Type"] == "Limit" else 1.0
        yield from _postgresql_steps(inner, min(part, of_it))


def _sqlite_step(detail: str, said: str) -> Iterator[str]:
    found = re.match(r"(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", detail)
    if found is None:
        return
    how, name, index = found.groups()
    alias = re.search(rf"\b(\w+) AS {re.escape(name)}\b", said)
    table = alias[1] if alias else name
    if "VIRTUAL TABLE INDEX" in detail:
        return
    # An index that is read from end to end is as good as the table, but for partial ones, which
    # hold no more than is asked for, and for pages, which end when they are full.
    ends = index in PARTIAL or ("ORDER BY" in said and "LIMIT" in said)
    if how == "SCAN" and not (index and ends):
        yield f"scan {table}"
    elif index:
        yield f"index {index}"


def test_what_pages_and_upkeep_ask_reads_no_large_table_from_end_to_end(plans):
    read = {name: plans(ask) for name, ask in ASKED.items()}

    scanned = {
        name: found
        for name, steps in read.items()
        if (found := sorted({step for step in steps if step in {f"scan {t}" for t in LARGE}}))
    }
    assert scanned == {}
    assert {name for name, steps in read.items() if any(s.startswith("index ") for s in steps)} > {
        "queue",
        "queue counted",
        "one campaign",
        "sweep",
        "callbacks due",
        "old comments",
    }
    # What no index answers is noticed: who only wrote a name is looked for in every comment.
    person = Person(sender=Sender(), author_name="Mara 7")
    assert "scan comments" in plans(lambda stores: stores.personal_data.count_by_site(person))

    # What is old is found by its age even where nearly all is old.
    steps = plans(lambda stores: stores.personal_data.find_old(received_before=_RECENT, limit=200))

    # A scan that a LIMIT ends would read past all that was withdrawn before, more each time.
    assert set(steps) == {"index ix_comments_age"}
