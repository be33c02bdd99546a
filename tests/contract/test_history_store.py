"""Holds every history store to its contract."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.comment import Comment, Sender
from service.domain.decision import Ruling
from service.domain.history import History, Record, Standing
from service.ports import HistoryStore
from service.stores.memory_history import MemoryHistoryStore
from service.stores.valkey_history import ValkeyHistoryStore
from tests.factories import make_comment


def domains_of(comment: Comment) -> Sequence[str]:
    """Take every word with a dot for a domain; finding links is another room's task."""
    return [word for word in comment.text.split() if "." in word]


@pytest.fixture(params=["memory", "valkey"])
def history(request: pytest.FixtureRequest) -> Iterator[HistoryStore]:
    """Give a fresh history store of each kind."""
    if request.param == "memory":
        yield MemoryHistoryStore(domains_of=domains_of)
        return
    url = request.getfixturevalue("valkey").url
    store = ValkeyHistoryStore(url, domains_of=domains_of, prefix=secrets.token_hex(8))
    yield store
    store.close()


def sent_by(address: str = "a1", network: str = "n1", email: str = "e1") -> Comment:
    return make_comment(
        "hello", sender=Sender(address_key=address, network_key=network, email_key=email)
    )


def test_who_was_never_seen_has_an_empty_history(history):
    comments = [sent_by(), make_comment("see shop.example")]

    assert history.gather(comments) == [History(), History()]
    assert history.gather([]) == []


def test_a_decision_counts_for_address_network_and_email(history):
    counted = history.learn("d1", sent_by(), Ruling.REJECT)

    once = Standing(everywhere=Record(rejected=1))
    assert counted
    assert history.gather([sent_by()]) == [History(address=once, network=once, email=once)]


def test_only_what_two_senders_share_is_remembered_of_both(history):
    history.learn("d1", sent_by("a1", "n1", "e1"), Ruling.APPROVE)
    history.learn("d2", sent_by("a2", "n1", "e2"), Ruling.REJECT)

    seen = history.gather([sent_by("a2", "n1", "e9")])

    both = Standing(everywhere=Record(approved=1, rejected=1))
    assert seen == [History(address=Standing(everywhere=Record(rejected=1)), network=both)]


def test_equal_hashes_of_different_kinds_never_meet(history):
    history.learn("d1", sent_by(address="x", network="n", email="e"), Ruling.REJECT)

    seen = history.gather([sent_by(address="n", network="e", email="x")])

    assert seen == [History()]


def test_histories_come_in_the_order_of_the_comments(history):
    history.learn("d1", sent_by(address="a2"), Ruling.REJECT)
    comments = [sent_by(address=f"a{n}") for n in range(4)]

    seen = history.gather(comments)

    assert [h.address.everywhere.rejected for h in seen] == [0, 0, 1, 0]


def test_the_same_decision_is_counted_once(history):
    answers = [history.learn("d1", sent_by(), Ruling.REJECT) for _ in range(3)]

    assert answers == [True, False, False]
    assert history.gather([sent_by()])[0].address.everywhere == Record(rejected=1)


def test_a_decision_is_taken_back_exactly(history):
    history.learn("d1", sent_by(), Ruling.REJECT)
    history.learn("d2", sent_by(), Ruling.APPROVE)

    answers = [history.unlearn("d1", sent_by(), Ruling.REJECT) for _ in range(2)]

    assert answers == [True, False]
    assert history.gather([sent_by()])[0].address.everywhere == Record(approved=1)


def test_taking_back_what_was_never_counted_is_harmless(history):
    taken_back = history.unlearn("d1", sent_by(), Ruling.REJECT)

    assert not taken_back
    assert history.gather([sent_by()]) == [History()]


def test_a_delayed_repeat_does_not_bring_an_undone_decision_back(history):
    history.learn("d1", sent_by(), Ruling.REJECT)
    history.unlearn("d1", sent_by(), Ruling.REJECT)

    counted = history.learn("d1", sent_by(), Ruling.REJECT)

    assert not counted
    assert history.gather([sent_by()]) == [History()]


def test_what_is_taken_back_is_what_was_counted(history):
    history.learn("d1", sent_by(), Ruling.REJECT)

    history.unlearn("d1", sent_by(), Ruling.APPROVE)

    assert history.gather([sent_by()]) == [History()]


def test_linked_domains_are_remembered_whoever_links_them(history):
    history.learn("d1", make_comment("buy at Shop.example"), Ruling.REJECT)

    seen = history.gather([make_comment("again shop.example")])

    assert seen == [History(domains=Standing(everywhere=Record(rejected=1)))]


def test_of_several_domains_the_worst_one_speaks(history):
    for number in range(3):
        history.learn(f"good-{number}", make_comment("video.example"), Ruling.APPROVE)
    history.learn("bad", make_comment("shop.example"), Ruling.REJECT)

    seen = history.gather([make_comment("video.example and shop.example")])

    assert seen[0].domains.everywhere == Record(rejected=1)


def test_a_comment_that_names_a_domain_twice_counts_once(history):
    history.learn("d1", make_comment("shop.example SHOP.example"), Ruling.REJECT)

    assert history.gather([make_comment("shop.example")])[0].domains.everywhere == Record(
        rejected=1
    )


def test_a_hostile_domain_is_only_a_name(history):
    hostile = "x" * 100_000 + ".example\r\n\ud800"
    history.learn("d1", make_comment(hostile), Ruling.REJECT)

    assert history.gather([make_comment(hostile)])[0].domains.everywhere == Record(rejected=1)


def test_decisions_learnt_at_the_same_time_are_each_counted_once(history):
    with ThreadPoolExecutor(6) as pool:
        answers = list(
            pool.map(
                lambda number: history.learn(f"d{number % 10}", sent_by(), Ruling.REJECT),
                range(40),
            )
        )

    assert sum(answers) == 10
    assert history.gather([sent_by()])[0].address.everywhere == Record(rejected=10)
