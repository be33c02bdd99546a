"""Lists as files that commands replace while servers read them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import ListKind
from service.reputation.lists import AboutList, ListState, default_expiry_days, parse_list
from service.stores.files.reputation_lists import (
    DamagedListError,
    ListFolder,
    open_list,
    write_list,
)
from tests.factories import NOW

NETWORKS = b"192.0.2.0/28\n2001:db8::/32\n10.0.0.0/8\n"


def about(name: str = "abuse", kind: ListKind = ListKind.NETWORKS, **changes) -> AboutList:
    values = {
        "name": name,
        "kind": kind,
        "source": "a test",
        "listed_at": NOW - timedelta(days=2),
        "expires_at": NOW + timedelta(days=8),
        "entries": 3,
        "wrong_lines": 0,
    }
    return AboutList(**(values | changes))


def compiled(raw: bytes, kind: ListKind = ListKind.NETWORKS):
    return parse_list(BytesIO(raw), kind).compiled


def names(lists, *, address=None, domains=(), mail_domain=None, at=NOW):
    found = lists.find(address=address, domains=domains, mail_domain=mail_domain, at=at)
    return [one.list_name for one in found]


@pytest.fixture
def lists(tmp_path):
    """Return one list of each kind."""
    folder = ListFolder(tmp_path / "reputation")
    for name, kind, raw in (
        ("abuse", ListKind.NETWORKS, NETWORKS),
        ("spammers", ListKind.DOMAINS, b"shop.example\n"),
        ("throwaway", ListKind.MAIL_DOMAINS, b"minutes.example\n"),
    ):
        folder.put(about(name, kind), compiled(raw, kind))
    return folder


@pytest.mark.parametrize("address", ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1"])
def test_an_address_is_found_on_the_list_that_holds_it(lists, address):
    (found,) = lists.find(address=address, domains=(), mail_domain=None, at=NOW)

    assert (found.list_name, found.kind, found.age_days) == ("abuse", ListKind.NETWORKS, 2.0)


@pytest.mark.parametrize("address", ["192.0.2.16", "2001:db9::", "10.1.2.3"])
def test_an_address_beside_the_listed_ones_or_of_a_private_network_is_not_found(lists, address):
    assert names(lists, address=address) == []


def test_domains_and_mail_domains_are_looked_up_apart(lists):
    assert names(lists, domains=["fine.example", "shop.example"]) == ["spammers"]
    assert names(lists, domains=["minutes.example"], mail_domain="shop.example") == []
    assert names(lists, mail_domain="box7.minutes.example") == ["throwaway"]


def test_a_replaced_or_removed_list_is_seen_within_a_second_by_who_read_the_old_one(
    tmp_path, seconds
):
    server = ListFolder(tmp_path, clock=seconds)
    command = ListFolder(tmp_path)
    command.put(about(), compiled(NETWORKS))
    before = names(server, address="192.0.2.7")

    command.put(about(), compiled(b"198.51.100.1\n"))
    seconds.now += 1.0

    assert before == ["abuse"]
    assert names(server, address="192.0.2.7") == []
    assert names(server, address="198.51.100.1") == ["abuse"]

    assert command.remove("abuse")
    seconds.now += 1.0

    assert names(server, address="198.51.100.1") == []
    assert not command.remove("abuse")


def test_many_threads_at_once_all_see_the_lists_from_the_first_look_on(tmp_path):
    ListFolder(tmp_path).put(about(), compiled(NETWORKS))
    server = ListFolder(tmp_path)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: names(server, address="192.0.2.7"), range(64)))

    assert found == [["abuse"]] * 64


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """Return a list of addresses that many examples share."""
    folder = ListFolder(tmp_path_factory.mktemp("networks"))
    folder.put(about(), compiled(NETWORKS))
    return folder


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=30))
def test_no_domain_however_odd_stops_a_look_up(networks, mail_domain, domains):
    assert names(networks, mail_domain=mail_domain, domains=domains) == []


def test_a_damaged_list_is_left_out_and_the_others_go_on(tmp_path):
    ListFolder(tmp_path).put(about("good"), compiled(NETWORKS))
    ListFolder(tmp_path).put(about("bad"), compiled(NETWORKS))
    raw = bytearray((tmp_path / "bad.list").read_bytes())
    raw[-40] ^= 1
    (tmp_path / "bad.list").write_bytes(raw)

    server = ListFolder(tmp_path)

    assert names(server, address="192.0.2.7") == ["good"]
    assert server.damaged() == ["bad"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.binary(max_size=40))
def test_a_file_cut_or_changed_anywhere_is_known_for_damaged(tmp_path_factory, at, junk):
    path = tmp_path_factory.mktemp("lists") / "a.list"
    write_list(path, about(), compiled(NETWORKS))
    whole = path.read_bytes()
    changed = whole[: at % len(whole)] + junk
    path.write_bytes(changed)

    with pytest.raises(DamagedListError):
        open_list(path)


def test_a_list_grows_stale_before_it_expires():
    listed = about(expires_at=NOW + timedelta(days=default_expiry_days(ListKind.NETWORKS)))

    states = [listed.state(NOW + timedelta(days=days)) for days in (0, 40, 130)]

    assert states == [ListState.FRESH, ListState.STALE, ListState.EXPIRED]
