"""How much is asked of the database: by a page as much for many comments as for few."""

import threading

import pytest
import sqlalchemy as sa

from service.domain.comment import Sender
from service.moderation.callbacks import set_callback
from service.web.pages import review
from tests.databases import fresh_stores
from tests.factories import SITE, make_comment
from tests.fakes import deliver_all, make_services, make_site
from tests.functional import moderators
from tests.functional.filled import join, judge
from tests.functional.moderators import signed_in

SENDER = Sender(address_key="a1", network_key="n1", email_key="e1", email_domain="mail.example")


@pytest.fixture
def stores():
    return fresh_stores(sites=[make_site()])


@pytest.fixture
def services(stores):
    return make_services(stores=stores, judges=False)


@pytest.fixture
def asked(stores):
    """Give a list of the statements that this thread asked, and one of its transactions."""
    statements, transactions, thread = [], [], threading.get_ident()

    def note(_connection, _cursor, said, *_more):
        # SQLite's BEGIN is a statement of its own, and so is what waits for its write lock.
        is_statement = said.split()[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}
        if is_statement and threading.get_ident() == thread:
            statements.append(said)

    def begin(_connection):
        if threading.get_ident() == thread:
            transactions.append(1)

    sa.event.listen(stores.engine, "before_cursor_execute", note)
    sa.event.listen(stores.engine, "begin", begin)
    return statements, transactions


def keep(services, numbers):
    """Keep comments that wait, all of one sender and of the first one's campaign; return its id."""
    kept = [
        make_comment(f"Number {n}, see https://shop.example/{n}", id=f"com_{n:03d}", sender=SENDER)
        for n in numbers
    ]
    for one in kept:
        judge(services, one, "site:shop.example")
    return join(services, ["com_000", *(one.id for one in kept if one.id != "com_000")])


PAGES = [
    # Statements and transactions at most: what opens a comment claims it in between.
    ("/review", 33, 3),
    ("/review/comments/com_001", 35, 3),
    ("/review/search?q=number", 11, 1),
    ("/review/campaigns", 10, 1),
    ("/review/campaigns/{campaign}", 12, 1),
]


@pytest.mark.parametrize(("path", "statements", "transactions"), PAGES)
def test_a_page_asks_for_many_comments_what_it_asks_for_few(
    services, asked, path, statements, transactions, monkeypatch
):
    client = signed_in(services)
    # Every number is counted each time.
    monkeypatch.setattr(review, "_COUNT_SECONDS", 1e-9)
    numbers = []
    for few_or_many in (range(4), range(4, 24)):
        address = path.format(campaign=keep(services, few_or_many))
        services.search.index_due(limit=100)
        assert client.get(address).status_code == 200
        asked[0].clear()
        asked[1].clear()
        assert client.get(address).status_code == 200
        numbers.append((len(asked[0]), len(asked[1])))

    (few, _), (many, begun) = numbers
    assert many <= few
    assert many <= statements
    assert begun <= transactions


def test_a_comment_is_kept_judged_and_told_of_in_few_statements(services, asked, api):
    set_callback(SITE, "https://blog.example/hook", services, actor="owner")
    comment = {"text": "Lovely, see www.radiators-sale.shop", "site_comment_id": "1"}
    steps = [
        (lambda: api.post("/v1/comments", json=comment), 6, 2),
        (services.queue.run, 14, 4),
        (lambda: deliver_all(services), 13, 5),
    ]

    for act, statements, transactions in steps:
        asked[0].clear()
        asked[1].clear()
        act()
        assert 0 < len(asked[0]) <= statements
        assert len(asked[1]) <= transactions


def test_nothing_is_held_once_a_page_was_answered(services, asked, stores):
    client = signed_in(services)
    keep(services, range(2))

    statuses = [client.get(path).status_code for path in ("/review", "/review/comments/none")]

    assert statuses == [200, 404]
    assert len(asked[1]) > 0
    assert stores.engine.pool.checkedout() == 0


@pytest.fixture
def numbers(services, monkeypatch):
    """Give the numbers of the lists, which are kept for ever."""
    monkeypatch.setattr(review, "_COUNT_SECONDS", 1e9)
    services.sites.add(make_site(id="site-2", name="Knitting"))
    client = signed_in(services)
    return lambda **query: client.get("/review/counts", query_string=query).get_json()["counts"]


def test_only_a_number_of_a_list_that_is_not_worked_on_is_kept(services, numbers):
    before = numbers()
    moderators.keep(services)
    after = numbers()

    assert (before["needs-review"], after["needs-review"]) == (0, 1)
    assert before["all"] == after["all"] == 0


def test_numbers_of_different_sites_are_kept_apart(services, numbers):
    moderators.keep(services)

    assert [numbers(**at)["all"] for at in ({}, {"site": "site-1"}, {"site": "site-2"})] == [
        1,
        1,
        0,
    ]
