"""A day's digest is had by whoever asks first."""

from __future__ import annotations

import secrets

import pytest

from service.stores.valkey.digest_claims import ValkeyDigestClaims
from tests.in_memory import MemoryDigestClaims


@pytest.fixture(params=["memory", "valkey"])
def claims(request):
    if request.param == "memory":
        yield MemoryDigestClaims()
        return
    url = request.getfixturevalue("valkey").url
    store = ValkeyDigestClaims(url, prefix=secrets.token_hex(4))
    yield store
    store.close()


def test_a_digest_is_claimed_once(claims):
    assert claims.claim("2026-11-26:room")
    assert not claims.claim("2026-11-26:room")
    assert claims.claim("2026-11-27:room")


def test_what_is_released_can_be_claimed_again(claims):
    claims.claim("2026-11-26:room")
    claims.release("2026-11-26:room")
    claims.release("nothing")

    assert claims.claim("2026-11-26:room")
