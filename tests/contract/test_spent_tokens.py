"""Holds what remembers the tokens of comment forms to telling a second use from a repeat."""

from __future__ import annotations

import secrets

import pytest

from service.domain.comment import SiteId
from service.stores.valkey.spent_tokens import ValkeySpentTokens
from tests.factories import SITE
from tests.in_memory import MemorySpentTokens

OTHER = SiteId("site-2")


@pytest.fixture(params=["memory", "valkey"])
def spent(request):
    if request.param == "memory":
        yield MemorySpentTokens()
        return
    url = request.getfixturevalue("valkey").url
    store = ValkeySpentTokens(url, prefix=secrets.token_hex(4))
    yield store
    store.close()


def test_a_token_is_used_once(spent):
    assert spent.spend("one", use="this comment", site_id=SITE)
    assert spent.spend("two", use="that comment", site_id=SITE)
    assert not spent.spend("one", use="that comment", site_id=SITE)


def test_the_same_use_may_come_again(spent):
    assert spent.spend("again", use="this comment", site_id=SITE)
    assert not spent.spend("again", use="that comment", site_id=SITE)
    assert spent.spend("again", use="this comment", site_id=SITE)


def test_only_a_site_whose_tokens_are_used_has_any(spent):
    assert not spent.are_used_by(OTHER)

    spent.spend("of another", use="a comment", site_id=OTHER)

    assert spent.are_used_by(OTHER)
    assert not spent.are_used_by(SiteId("site-3"))
