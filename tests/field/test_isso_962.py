"""https://github.com/isso-comments/isso/issues/962: addresses as proxies and servers write them."""

from __future__ import annotations

import pytest


@pytest.fixture
def key_of(submit):
    """Return what gives the key under which the sender of a comment is remembered."""
    return lambda address: submit(address=address).comment.sender.address_key


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("203.0.113.9:443", "203.0.113.9"),
        ("203.0.113.9, 198.51.100.7", "203.0.113.9"),
        ("unknown, 203.0.113.9", "203.0.113.9"),
        (" 203.0.113.9 ", "203.0.113.9"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1%eth0", "2001:db8::1"),
        ("for=203.0.113.9", "203.0.113.9"),
        ('For="[2001:db8::1]:4711"', "2001:db8::1"),
        ("_hidden, 203.0.113.9", "203.0.113.9"),
    ],
)
def test_an_address_is_read_whatever_is_written_around_it(key_of, given, meant):
    assert key_of(given) == key_of(meant)


@pytest.mark.parametrize("given", ["", "unknown", "-", "unix:", "_hidden, unknown", None])
def test_an_unknown_address_is_none(key_of, given):
    assert key_of(given) is None
