"""Holds every inbound store to saying which deliveries it remembers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.inbound import InboundHook, Platform
from tests.factories import NOW, SITE

MINUTE = timedelta(minutes=1)


@pytest.fixture
def inbound(stores):
    for hook_id in ("hook-1", "hook-2"):
        hook = InboundHook(
            id=hook_id, site_id=SITE, platform=Platform.GITHUB, secret="s", created_at=NOW
        )
        stores.inbound.add(hook)
    return stores.inbound


def test_what_was_remembered_has_been_seen(inbound):
    inbound.remember("hook-1", "delivery", at=NOW, forget=NOW - MINUTE)

    assert inbound.has_seen("hook-1", "delivery", since=NOW)
    assert not inbound.has_seen("hook-1", "delivery", since=NOW + MINUTE)
    assert not inbound.has_seen("hook-1", "another", since=NOW)
    assert not inbound.has_seen("hook-2", "delivery", since=NOW)


def test_asking_remembers_nothing(inbound):
    inbound.has_seen("hook-1", "delivery", since=NOW - MINUTE)

    assert inbound.remember("hook-1", "delivery", at=NOW, forget=NOW - MINUTE)
