"""Holds every endpoint store to its contract."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.delivery import DeliveryForm, Endpoint, EventKind
from service.domain.errors import ConflictError, NotFoundError
from service.ports.audit import AuditEntry
from tests.factories import NOW, SITE


def make_endpoint(**changes) -> Endpoint:
    values = {
        "site_id": SITE,
        "url": "https://blog.example/hooks?name=käse",
        "secrets": ("whsec_bmV3", "whsec_b2xk"),
    }
    return Endpoint(**(values | changes))


def test_an_endpoint_comes_back_as_it_was_put_last(stores):
    first = make_endpoint(events=(EventKind.DECISION, EventKind.VERDICT))
    other = make_endpoint(url="https://blog.example/new", secrets=("whsec_bmV3",), events=())

    for endpoint in (first, other):
        stores.endpoints.put(endpoint)

        assert stores.endpoints.get(SITE) == endpoint


def test_an_endpoint_is_changed_in_view_of_the_present_one_or_not_at_all(stores):
    first = make_endpoint()
    stores.endpoints.put(first)
    act = AuditEntry(at=NOW, actor="ada", act="change callback", subject=SITE)

    def refuse(present):
        raise ConflictError(present.url)

    with pytest.raises(ConflictError, match=re.escape(first.url)):
        stores.endpoints.change(SITE, refuse, act=act)
    changed = stores.endpoints.change(SITE, lambda present: replace(present, events=()))

    assert changed == stores.endpoints.get(SITE) == replace(first, events=())
    assert stores.audit_log.recent() == []
    with pytest.raises(NotFoundError):
        stores.endpoints.change(SiteId("no"), lambda _: first)


def test_an_endpoint_can_be_forgotten_more_than_once(stores):
    stores.endpoints.put(make_endpoint())

    for _ in range(2):
        stores.endpoints.remove(SITE)

    assert stores.endpoints.get(SITE) is None


def make_platform(**changes) -> Endpoint:
    return make_endpoint(**({"form": DeliveryForm.GITHUB, "secrets": ("token",)} | changes))


def test_a_pause_brings_back_no_rest_that_was_kept_before_a_longer_one(stores):
    platform = make_platform()
    stores.endpoints.put(replace(platform, rests_until=NOW))
    read = stores.endpoints.get(SITE)
    later = NOW + timedelta(minutes=2)

    stores.endpoints.pause(read, rests_until=later)
    stores.endpoints.pause(read, refused_at=NOW)
    stores.endpoints.pause(read, rests_until=NOW + timedelta(minutes=1))

    assert stores.endpoints.get(SITE) == replace(platform, refused_at=NOW, rests_until=later)


def test_a_new_endpoint_ends_a_pause_that_a_late_answer_does_not_bring_back(stores):
    old, new = make_platform(), make_platform(secrets=("another",))
    stores.endpoints.put(old)
    stores.endpoints.pause(old, refused_at=NOW)

    stores.endpoints.put(new)
    stores.endpoints.pause(old, refused_at=NOW)

    assert stores.endpoints.get(SITE) == new


def test_one_of_several_callers_begins_and_nobody_else_before_its_rest_has_passed(stores):
    endpoint = make_platform()
    stores.endpoints.put(endpoint)
    until = NOW + timedelta(seconds=60)

    began = [stores.endpoints.begin_call(endpoint, at=NOW, until=until) for _ in range(2)]
    later = stores.endpoints.begin_call(endpoint, at=until, until=until + timedelta(seconds=60))

    assert (began, later) == ([True, False], True)


def test_no_call_begins_at_what_refused_or_was_replaced(stores):
    endpoint = make_platform()
    until = NOW + timedelta(seconds=60)
    unknown = stores.endpoints.begin_call(endpoint, at=NOW, until=until)
    stores.endpoints.put(make_platform(secrets=("another",)))
    replaced = stores.endpoints.begin_call(endpoint, at=NOW, until=until)
    stores.endpoints.put(endpoint)
    stores.endpoints.pause(endpoint, refused_at=NOW)
    refused = stores.endpoints.begin_call(endpoint, at=NOW, until=until)

    assert (unknown, replaced, refused) == (False, False, False)


def test_when_it_was_called_is_kept_beside_its_rest(stores):
    endpoint = make_platform()
    stores.endpoints.put(endpoint)
    until = NOW + timedelta(seconds=60)
    stores.endpoints.begin_call(endpoint, at=NOW, until=until)

    stores.endpoints.pause(endpoint, called_at=NOW)

    assert stores.endpoints.get(SITE) == replace(endpoint, called_at=NOW, rests_until=until)
