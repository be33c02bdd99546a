"""What a sender is recognised by, and by what not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.sender import make_sender, normal_name, one_client

NEW, OLD = b"the present secret", b"the one before it"


def test_an_ipv6_household_and_its_hosting_customer_have_keys_of_their_own():
    one = make_sender(address="2001:db8:1:2::7", email=None, secret=NEW)
    same_house = make_sender(address="2001:db8:1:2:ffff::8", email=None, secret=NEW)
    same_customer = make_sender(address="2001:db8:1:3::7", email=None, secret=NEW)
    stranger = make_sender(address="2001:db8:2:2::7", email=None, secret=NEW)

    assert one.network_key == same_house.network_key != same_customer.network_key
    assert one.wide_network_key == same_house.wide_network_key == same_customer.wide_network_key
    assert stranger.wide_network_key != one.wide_network_key
    assert len({one.address_key, one.network_key, one.wide_network_key}) == 3


@pytest.mark.parametrize(
    "typed",
    [
        "Mara Lindqvist",
        "  mara   LINDQVIST ",
        "Mara-Lindqvist!",
        "Mara\u200b Lind\u00adqvist",
        "Ｍａｒａ Ｌｉｎｄｑｖｉｓｔ",
        "\u202eMara\u202c Lindqvist\ufe0f",
    ],
)
def test_a_name_is_one_however_it_is_typed(typed):
    assert normal_name(typed) == "mara lindqvist"


@pytest.mark.parametrize(
    "typed", [None, "", " ", "Al", "...", "Anonymous", " GUEST ", "匿名", "\u200b", "\U0001f600"]
)
def test_a_name_that_names_nobody_has_no_key(typed):
    assert normal_name(typed) is None


def test_a_name_of_two_ideographs_is_a_name():
    assert normal_name("王伟") == "王伟"


@given(st.text(max_size=60))
def test_a_reduced_name_stays_as_it_is(typed):
    once = normal_name(typed)

    assert once is None or normal_name(once) == once


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (" ::ffff:192.0.2.7 ", "192.0.2.7"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("unknown", "unknown"),
        ("", ""),
        ("," * 100_000, "," * 64),
    ],
)
def test_one_client_is_an_address_or_an_ipv6_network(address, client):
    assert one_client(address) == client
