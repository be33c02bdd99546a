"""What a campaign replay posts, and what it counts in the verdicts, whatever the model thinks."""

from __future__ import annotations

import ipaddress

import pytest

from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from tests.benchmarks.replay_report import (
    Judged,
    changed_ham,
    count_campaigns,
    to_markdown,
    to_record,
)
from tests.benchmarks.replay_stream import Posted, Shares, StreamConfig, make_stream

HAM, UNSURE, SPAM = Outcome.HAM, Outcome.UNSURE, Outcome.SPAM
ABOUT = {"version": "v", "posted": 0, "seed": 1}


def campaign(name: str, n: int, *, is_test: bool = False) -> list[Posted]:
    return [
        Posted(id=f"{name}{m}", source="authored", campaign=name, member=m, is_test=is_test)
        for m in range(1, n + 1)
    ]


def reader(name: str, shares: Shares = Shares.NOTHING) -> Posted:
    return Posted(id=name, source="blog", shares=shares)


def said(**outcomes: Outcome) -> dict[str, Judged]:
    return {name: Judged(outcome=outcome, p_spam=0.5) for name, outcome in outcomes.items()}


def one_row(decided: list[Outcome], undecided: list[Outcome] | None = None):
    names = [f"a{m}" for m in range(1, len(decided) + 1)]
    rows = count_campaigns(
        campaign("a", len(decided)),
        decided=said(**dict(zip(names, decided, strict=True))),
        undecided=said(**dict(zip(names, undecided or decided, strict=True))),
    )
    return rows[0]


@pytest.mark.parametrize(
    ("outcomes", "settled_from"),
    [
        ([SPAM, UNSURE, SPAM], 1),
        ([HAM, SPAM, UNSURE], 2),
        ([SPAM, HAM, SPAM], 3),
        ([SPAM, SPAM, HAM], None),
        ([HAM], None),
    ],
)
def test_a_campaign_is_settled_behind_its_last_member_that_went_to_ham(outcomes, settled_from):
    assert one_row(outcomes).settled_from == settled_from


def test_where_the_rest_is_surely_spam_is_told_with_and_without_decisions():
    row = one_row([UNSURE, SPAM, SPAM], [UNSURE, SPAM, UNSURE])

    assert (row.settled_from, row.spam_from, row.spam_from_undecided) == (1, 2, None)


def test_the_first_member_is_not_counted_as_let_through():
    row = one_row([HAM, SPAM, HAM, HAM], [HAM, HAM, HAM, HAM])

    assert (row.let_through, row.let_through_undecided) == (2, 3)


def test_members_are_counted_in_the_campaigns_order_wherever_they_stand():
    stream = [*reversed(campaign("a", 3)), reader("h")]
    verdicts = said(a1=HAM, a2=UNSURE, a3=SPAM, h=HAM)

    rows = count_campaigns(stream, decided=verdicts, undecided=verdicts)

    assert [(row.campaign, row.ids, row.settled_from) for row in rows] == [
        ("a", ("a1", "a2", "a3"), 2)
    ]


def test_ham_is_harmed_only_where_decisions_made_its_outcome_worse():
    stream = [reader(name) for name in ("worse", "worst", "better", "same", "always_spam")]
    undecided = said(worse=HAM, worst=UNSURE, better=SPAM, same=UNSURE, always_spam=SPAM)
    decided = said(worse=UNSURE, worst=SPAM, better=UNSURE, same=UNSURE, always_spam=SPAM)

    changed = changed_ham(stream, decided=decided, undecided=undecided)

    assert {one.id: one.is_harmed for one in changed} == {
        "worse": True,
        "worst": True,
        "better": False,
    }


def test_a_campaign_member_is_never_ham_harmed():
    stream = campaign("a", 2)

    changed = changed_ham(stream, decided=said(a1=SPAM, a2=SPAM), undecided=said(a1=HAM, a2=HAM))

    assert changed == []


def test_the_record_adds_up_all_campaigns_and_those_of_the_test_part():
    stream = [*campaign("a", 2), *campaign("b", 3, is_test=True), reader("h", Shares.ADDRESS)]
    undecided = said(a1=HAM, a2=HAM, b1=SPAM, b2=HAM, b3=HAM, h=HAM)
    decided = said(a1=HAM, a2=HAM, b1=SPAM, b2=SPAM, b3=UNSURE, h=UNSURE)

    record = to_record(stream, decided=decided, undecided=undecided, test_only=False, **ABOUT)

    totals = record["campaigns"]
    tested = totals["of posts in the test part"]
    assert totals["all"]["settled_from"] == {"1": 1, "never": 1}
    assert (totals["all"]["let_through_undecided"], totals["all"]["let_through"]) == (3, 1)
    assert (tested["let_through_undecided"], tested["let_through"]) == (2, 0)
    assert (tested["called_spam_undecided"], tested["called_spam"]) == (0, 1)
    assert record["ham"]["at a spammer's address"]["harmed"] == 1
    assert record["ham"]["in a spammer's network"]["n"] == 0


def test_the_page_names_the_ham_harmed_by_id():
    stream = [*campaign("a", 1), reader("blog-17")]
    record = to_record(
        stream,
        decided=said(**{"a1": SPAM, "blog-17": UNSURE}),
        undecided=said(**{"a1": SPAM, "blog-17": HAM}),
        test_only=False,
        **ABOUT,
    )

    assert "Ham harmed: `blog-17` (ham 0.500 to unsure 0.500" in to_markdown(record)


def row(name: str, address: str, **changes) -> dict:
    return {
        "id": name,
        "label": "spam",
        "campaign": None,
        "user_ip": address,
        "author_name": name,
        "author_email": f"{name}@mail.example",
        "author_url": None,
        "post_title": "Radiators",
        "post_excerpt": "How to bleed them.",
        "text": f"A comment by {name}",
    } | changes


AUTHORED = [
    *(row(f"a{n}", f"192.0.2.{7 + n % 2}", campaign="a") for n in range(4)),
    *(row(f"b{n}", f"192.0.2.{7 + n % 2}", campaign="b") for n in range(4)),
    *(row(f"h{n}", f"192.0.2.{100 + n}", label="ham") for n in range(40)),
    row("alone", "192.0.2.50"),
]
BLOG = [{"id": f"r{n}", "label": "ham", "source": "blog", "text": f"Remark {n}"} for n in range(40)]


def stream_of(**knobs) -> list[Posted]:
    return make_stream(AUTHORED, BLOG, test_ids={"b0"}, config=StreamConfig(**knobs))


def address_of(posted: Posted) -> str:
    return posted.body["address"]


def network_of(posted: Posted) -> str:
    return address_of(posted).rpartition(".")[0]


def test_a_stream_holds_campaigns_in_order_and_ham_and_no_other_spam():
    stream = stream_of()

    assert [p.id for p in stream if p.campaign == "a"] == ["a0", "a1", "a2", "a3"]
    assert [p.member for p in stream if p.campaign == "b"] == [1, 2, 3, 4]
    assert sum(p.campaign is None for p in stream) == 80
    assert "alone" not in {p.id for p in stream}
    assert [p.id for p in stream if p.is_test] == ["b0"]


def test_only_first_members_are_rejected_and_only_ham_is_approved():
    rulings = {p.id: p.ruling for p in stream_of(approved_share=1.0)}

    assert {n for n, r in rulings.items() if r is Ruling.REJECT} == {"a0", "b0"}
    assert sum(r is Ruling.APPROVE for r in rulings.values()) == 80


def test_the_same_seed_gives_the_same_stream_and_another_seed_another_one():
    assert stream_of() == stream_of()
    assert stream_of() != stream_of(seed=1)


def test_a_campaign_keeps_its_pattern_of_addresses_in_a_network_of_its_own():
    stream = stream_of(same_address_share=0.0, same_network_share=0.0)
    a, b = ([p for p in stream if p.campaign == name] for name in "ab")
    ham = [p for p in stream if p.campaign is None]

    assert address_of(a[0]) == address_of(a[2]) != address_of(a[1]) == address_of(a[3])
    assert len({network_of(p) for p in a}) == len({network_of(p) for p in b}) == 1
    assert not {network_of(p) for p in a} & {network_of(p) for p in (*b, *ham)}
    assert len({address_of(p) for p in ham}) == len(ham)
    assert all(ipaddress.ip_address(address_of(p)).is_private for p in stream)


def test_some_readers_sit_with_a_spammer():
    stream = stream_of(same_address_share=0.3, same_network_share=0.4)
    spammers = [p for p in stream if p.campaign]
    addresses = {address_of(p) for p in spammers}
    networks = {network_of(p) for p in spammers}
    by_shares = {s: [p for p in stream if not p.campaign and p.shares is s] for s in Shares}

    assert all(by_shares.values())
    assert {address_of(p) for p in by_shares[Shares.ADDRESS]} <= addresses
    assert {network_of(p) for p in by_shares[Shares.NETWORK]} <= networks
    assert not {address_of(p) for p in by_shares[Shares.NETWORK]} & addresses
    assert not {network_of(p) for p in by_shares[Shares.NOTHING]} & networks


def test_real_ham_gets_a_mail_address_of_its_own_and_a_name_if_asked():
    plain = [p.body["author"] for p in stream_of() if p.source == "blog"]
    named = [p.body["author"] for p in stream_of(names_for_readers=True) if p.source == "blog"]

    assert len({author["email"] for author in plain}) == 40
    assert not any("name" in author for author in plain)
    assert len({author["name"] for author in named}) == 40
