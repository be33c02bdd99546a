"""How much the moderators' pages ask of the database: as much for many comments as for few."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from service.campaigns.traits import Traits
from service.domain.comment import Lane, Sender
from service.domain.site import Site
from service.domain.verdict import Outcome
from service.ports.campaigns import Placement
from service.ports.comments import NewComment
from service.stores.migrations import migrate
from service.stores.sql import SqlStores, create_engine
from service.web.pages.review.review_page import COUNTS
from service.web.pages.review.tab_counts import TabCounts
from tests.factories import NOW, SITE, make_comment, make_verdict
from tests.fakes import make_services
from tests.functional.moderators import signed_in

SENDER = Sender(address_key="a1", network_key="n1", email_key="e1", email_domain="mail.example")


@pytest.fixture
def engine(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'pages.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def services(engine):
    """Give services over a database; what waits in it is of one sender and one campaign."""
    stores = SqlStores(engine)
    services = replace(make_services(judges=False), **vars(stores))
    services.sites.add(Site(id=SITE, name="Radiator blog", created_at=NOW))
    return services


@pytest.fixture
def asked(engine):
    """Give a list of the statements that were asked, and one of the transactions."""
    statements, transactions = [], []

    def note(_connection, _cursor, said, *_more):
        # SQLite's BEGIN is a statement of its own, and so is what waits for its write lock.
        if said.split()[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
            statements.append(said)

    sa.event.listen(engine, "before_cursor_execute", note)
    sa.event.listen(engine, "begin", lambda _: transactions.append(1))
    return statements, transactions


def keep(services, numbers):
    """Keep comments that wait, all of one campaign and sender."""
    kept = [
        make_comment(f"Number {n}, see https://shop.example/{n}", id=f"com_{n:03d}", sender=SENDER)
        for n in numbers
    ]
    services.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in kept])
    services.verdicts.add(
        [make_verdict(one.id, Outcome.UNSURE) for one in kept],
        audit=frozenset(),
        traits=[
            Traits(
                comment_id=one.id, embedding=None, space="made up", targets=frozenset(), copies=()
            )
            for one in kept
        ],
    )
    services.campaigns.place(
        [
            Placement(
                comment_id=one.id,
                like=None if one.id == "com_000" else "com_000",
                new_campaign_id="cam_1",
            )
            for one in kept
        ],
        at=NOW,
    )


PAGES = [
    # Statements and transactions at most: what opens a comment claims it in between.
    ("/review", 33, 3),
    ("/review/comments/com_001", 35, 3),
    ("/review/search?q=number", 11, 1),
    ("/review/campaigns", 10, 1),
    ("/review/campaigns/cam_1", 12, 1),
]


@pytest.mark.parametrize(("path", "statements", "transactions"), PAGES)
def test_a_page_asks_for_many_comments_what_it_asks_for_few(
    services, asked, path, statements, transactions
):
    client = signed_in(services)
    # What takes long to count is counted seldom, which must not depend on the machine here.
    client.application.extensions[COUNTS] = TabCounts(services, monotonic=lambda: 0.0)
    numbers = []
    for few_or_many in (range(4), range(4, 24)):
        keep(services, few_or_many)
        services.search.index_due(limit=100)
        assert client.get(path).status_code == 200
        asked[0].clear()
        asked[1].clear()
        assert client.get(path).status_code == 200
        numbers.append((len(asked[0]), len(asked[1])))

    (few, _), (many, begun) = numbers
    assert many <= few
    assert many <= statements
    assert begun <= transactions


def test_nothing_is_held_once_a_page_was_answered(services, asked, engine):
    client = signed_in(services)
    keep(services, range(2))

    statuses = [client.get(path).status_code for path in ("/review", "/review/comments/none")]

    assert statuses == [200, 404]
    assert len(asked[1]) > 0
    assert engine.pool.checkedout() == 0
