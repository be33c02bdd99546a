"""Holds what remembers a first use to it: of tokens of comment forms, of a day's digest."""

from __future__ import annotations

import secrets

import pytest

from service.domain.comment import SiteId
from service.stores.valkey.notes import DigestClaims, SpentTokens
from tests.factories import SITE
from tests.in_memory import MemoryDigestClaims, MemorySpentTokens

OTHER = SiteId("site-2")


@pytest.fixture(params=["memory", "valkey"])
def spent(request):
    if request.param == "memory":
        yield MemorySpentTokens()
        return
    url = request.getfixturevalue("valkey").url
    store = SpentTokens(url, prefix=secrets.token_hex(4))
    yield store
    store.close()


def test_a_token_is_used_once_though_the_same_use_may_come_again(spent):
    assert spent.spend("one", use="this comment", site_id=SITE)
    assert spent.spend("two", use="that comment", site_id=SITE)
    assert not spent.spend("one", use="that comment", site_id=SITE)
    assert spent.spend("one", use="this comment", site_id=SITE)


def test_only_a_site_whose_tokens_are_used_has_any(spent):
    assert not spent.are_used_by(OTHER)

    spent.spend("of another", use="a comment", site_id=OTHER)

    assert spent.are_used_by(OTHER)
    assert not spent.are_used_by(SiteId("site-3"))


@pytest.fixture(params=["memory", "valkey"])
def claims(request):
    if request.param == "memory":
        yield MemoryDigestClaims()
        return
    url = request.getfixturevalue("valkey").url
    store = DigestClaims(url, prefix=secrets.token_hex(4))
    yield store
    store.close()


def test_a_digest_is_claimed_once_until_it_is_released(claims):
    claimed = [claims.claim(day) for day in ("2026-11-26", "2026-11-26", "2026-11-27")]
    for day in ("2026-11-26", "nothing"):
        claims.release(day)

    assert claimed == [True, False, True]
    assert claims.claim("2026-11-26")
