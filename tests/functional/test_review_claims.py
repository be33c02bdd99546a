"""Two moderators at one queue do not judge the same comment, and what is put off comes back."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from service.domain.user import Role
from tests.factories import NOW, make_comment
from tests.fakes import Overridden, away, make_services
from tests.functional.moderators import (
    hidden_fields,
    keep,
    make_app,
    restrict,
    rule,
    signed_in,
)


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def ola(services, app):
    return signed_in(services, "Ola", app)


@pytest.fixture
def mara(services, app):
    return signed_in(services, "Mara", app)


@pytest.fixture
def queue(services):
    """Three unsure comments, oldest first."""
    return [
        keep(services, make_comment(f"Number {n}", received_at=NOW - timedelta(hours=9 - n)))
        for n in range(3)
    ]


def _opened(page):
    return re.search(r'data-opened="([^"]+)"', page.text)[1]


def _listed(page):
    return re.findall(r'data-part="row-([^"]+)"', page.text)


def _post(client, comment, act, **fields):
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/decision")
    return client.post(f"/review/comments/{comment.id}/{act}", data={**form, **fields})


def test_two_moderators_are_given_different_comments(queue, ola, mara):
    pages = [ola.get("/review"), mara.get("/review")]

    assert [_opened(page) for page in pages] == [queue[0].id, queue[1].id]
    assert "<bdi>" in pages[1].text
    assert "Ola is looking at it" in pages[1].text


def test_a_claim_ends_by_itself_unless_it_is_renewed(services, queue, ola, mara):
    ola.get("/review")
    services.clock.advance(seconds=80)
    renewed = _post(ola, queue[0], "claim")
    services.clock.advance(seconds=80)

    still_held = _opened(mara.get("/review"))
    services.clock.advance(seconds=20)
    free_again = _opened(mara.get("/review"))

    assert renewed.status_code == 204
    assert still_held == queue[1].id
    assert free_again == queue[0].id


def test_who_only_looks_claims_nothing_and_is_offered_no_decision(services, queue, ola):
    restrict(services, role=Role.READER)

    page = ola.get("/review")

    assert services.claims.find([c.id for c in queue], now=NOW) == {}
    assert 'class="rule"' not in page.text
    assert "/distrust" not in page.text


def test_without_claims_the_queue_works_all_the_same(queue):
    services = make_services(claims=Overridden(None, take=away, find=away, end=away))
    comment = keep(services)
    client = signed_in(services)

    page = client.get("/review")
    answer = rule(client, comment, "approve")

    assert _opened(page) == comment.id
    assert answer.status_code == 303


def test_a_skipped_comment_moves_to_the_end_and_is_free_for_others(queue, ola, mara):
    ola.get("/review")

    answer = _post(ola, queue[0], "skip", then=queue[1].id)
    page = ola.get(answer.location)
    again = ola.get("/review")

    assert _opened(page) == queue[1].id
    assert "Skipped." in page.text
    assert _listed(again) == [queue[1].id, queue[2].id, queue[0].id]
    assert _opened(mara.get("/review")) == queue[0].id
