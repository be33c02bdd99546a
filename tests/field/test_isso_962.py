"""https://github.com/isso-comments/isso/issues/962: addresses as proxies and servers write them."""

from __future__ import annotations

import pytest

from service.domain.comment import CommentId


def key_of(api, services, address: str | None) -> str | None:
    """Return the key under which the sender of a comment is remembered."""
    answer = api.post("/v1/comments", json={"text": "Thanks, that helped.", "address": address})
    assert answer.status_code == 202, answer.get_json()
    case = services.cases.get(CommentId(answer.get_json()["id"]))
    return case.comment.sender.address_key


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
    ],
)
def test_an_address_is_read_whatever_is_written_around_it(api, services, given, meant):
    assert key_of(api, services, given) == key_of(api, services, meant)


@pytest.mark.parametrize("given", ["", "unknown", "-", "unknown, unknown", None])
def test_an_unknown_address_is_none(api, services, given):
    assert key_of(api, services, given) is None
