"""Fills a database with so many rows that its planner must think about indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import sqlalchemy as sa

from service.domain.comment import Author, CommentId, Lane, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.site import Site
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.stores.sql import SqlStores
from service.stores.sql.comments import comment_values
from service.stores.sql.rows import Values, verdict_values
from service.stores.sql.search import first_place, terms_of, written
from service.stores.sql.tables import (
    campaigns,
    comment_traits,
    comments,
    decisions,
    deliveries,
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
    """Keep 20,000 comments of 20 sites over four months, judged, findable, some in campaigns."""
    stores = SqlStores(engine)
    for site_id in SITES:
        stores.sites.add(Site(id=site_id, name=site_id, created_at=NOW))
    with engine.begin() as connection:
        for table, rows in _rows(connection):
            connection.execute(sa.insert(table), rows)
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("INSERT INTO search_fts(search_fts) VALUES('rebuild')")
    _act(engine)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # As the database does by itself some minutes after so much came in.
        connection.exec_driver_sql("VACUUM ANALYZE" if _is_postgresql(engine) else "ANALYZE")


def _is_postgresql(engine: sa.Engine) -> bool:
    return engine.dialect.name == "postgresql"


def _rows(connection: sa.Connection) -> Iterator[tuple[sa.Table, Sequence[Values]]]:
    examples = [_example(connection, number) for number in range(_TEXTS)]
    yield (
        campaigns,
        [
            {"id": f"cam_{number:04d}", "created_at": NOW, "last_seen_at": NOW}
            for number in range(ROWS // 40)
        ],
    )
    for first in range(0, ROWS, _MANY):
        numbers = range(first, first + _MANY)
        made = [_made(number, *examples[number % _TEXTS]) for number in numbers]
        yield comments, [one[0] for one in made]
        yield verdicts, [one[1] for one in made if one[0]["outcome"] is not None]
        yield comment_traits, [one[2] for one in made if one[0]["campaign_id"] is not None]
        yield search_docs, [one[3] for one in made]


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


def _made(
    number: int, comment: Values, verdict: Values, terms: str
) -> tuple[Values, Values, Values, Values]:
    at = NOW - timedelta(minutes=9 * (ROWS - number))
    outcome = _outcome(number)
    waits = outcome is Outcome.UNSURE
    one = comment_id(number)
    grouped = number % 4 == 1
    row = comment | {
        "id": one,
        "site_id": SITES[number % len(SITES)],
        "received_at": at,
        "review_at": at,
        "queued_at": at,
        "fingerprint": f"{number:064x}",
        "site_comment_digest": f"{number:064x}",
        "content_key": f"{number:064x}",
        "outcome": outcome.value if outcome else None,
        "degraded": None if outcome is None else False,
        "p_spam": None if outcome is None else 0.5,
        "review_rank": 0 if waits else 2,
        "campaign_id": f"cam_{number // 40:04d}" if grouped else None,
        "author_name": f"Mara {number % 500}",
        "sender_address_key": f"{number % 3_000:032x}",
        "sender_network_key": f"{number % 900:032x}",
        "sender_email_key": f"{number % 2_000:032x}",
        "sender_name_key": f"{number % 500:032x}",
    }
    judged = verdict | {"comment_id": one, "judged_at": at}
    traits = {
        "comment_id": one,
        "embedding": None,
        "space": "made up",
        "targets": [f"shop-{number % 50}.example"],
        "copies": [],
        "grouped_at": at,
    }
    doc = {"seq": first_place(at), "comment_id": one, "site_id": row["site_id"], "terms": terms}
    return row, judged, traits, doc


def sender_of(number: int) -> Sender:
    """Return who sent the comment with this number."""
    return Sender(
        address_key=f"{number % 3_000:032x}",
        network_key=f"{number % 900:032x}",
        email_key=f"{number % 2_000:032x}",
        email_domain="mail.example",
        name_key=f"{number % 500:032x}",
    )


def _act(engine: sa.Engine) -> None:
    """Let some be decided and messages be delivered, all but the newest few of them."""
    stores = SqlStores(engine)
    decided = [number for number in range(1, ROWS, _DECIDED_EVERY) if _outcome(number)]
    for start in range(0, len(decided), 250):
        stores.decisions.add_many(
            [
                make_decision(f"dec_{number}", comment_id(number), Ruling.REJECT, decided_by="Ola")
                for number in decided[start : start + 250]
            ]
        )
    stores.deliveries.add(
        [
            make_delivery(comment_id(number), site_id=SITES[number % len(SITES)])
            for number in range(_DELIVERIES)
        ]
    )
    with engine.begin() as connection:
        connection.execute(
            sa.update(decisions).where(decisions.c.seq > _OPEN).values(unremembered_since=None)
        )
        connection.execute(
            sa.update(deliveries)
            .where(deliveries.c.seq <= _DELIVERIES - _OPEN)
            .values(state="delivered", due_at=None, ended_at=NOW)
        )
