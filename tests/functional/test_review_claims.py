"""Two moderators at one queue do not judge the same comment, and what is put off comes back."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.user import Preferences, Role
from service.moderation.review.claims import claims_of_others, seconds_since_opening
from service.moderation.review.decide import decide_comment
from tests.factories import NOW, make_comment
from tests.fakes import make_services
from tests.functional.moderators import (
    add_moderator,
    hidden_fields,
    keep,
    make_app,
    rule,
    sign_in,
    signed_in,
)


@pytest.fixture
def services():
    return make_services()


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


def _reader(services, app):
    """Return a client signed in as somebody who may only look."""
    add_moderator(services, "Rhea")
    reader = services.accounts.users.find("Rhea")
    services.accounts.users.replace(replace(reader, role=Role.READER))
    client = app.test_client()
    sign_in(client, "Rhea")
    return client


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


def test_the_next_comment_is_one_that_nobody_looks_at(queue, ola, mara):
    ola.get(f"/review/comments/{queue[1].id}")

    answer = rule(mara, queue[0], "approve", then=queue[2].id)
    first = mara.get("/review")

    assert hidden_fields(first, f"/review/comments/{queue[2].id}/decision")["then"] == ""
    assert _opened(mara.get(answer.location)) == queue[2].id


def test_a_comment_that_somebody_looks_at_says_so_and_can_be_decided_all_the_same(
    services, queue, ola, mara
):
    ola.get("/review")

    page = mara.get(f"/review/comments/{queue[0].id}")
    answer = rule(mara, queue[0], "reject")

    assert "Ola is looking at it. You can still decide" in page.text
    assert answer.status_code == 303
    assert services.review.cases.get(queue[0].id).decision.decided_by == "Mara"


def test_who_is_second_is_told(services, queue, ola, mara):
    ola.get(f"/review/comments/{queue[0].id}")
    form = hidden_fields(
        ola.get(f"/review/comments/{queue[0].id}"), f"/review/comments/{queue[0].id}/decision"
    )
    rule(mara, queue[0], "reject")

    answer = ola.post(
        f"/review/comments/{queue[0].id}/decision", data={**form, "ruling": "approve"}
    )

    assert answer.status_code == 409
    assert "Mara rejected this comment" in re.sub(r"</?bdi>", "", answer.text)


def test_a_claim_ends_by_itself_unless_it_is_renewed(services, queue, ola, mara):
    ola.get("/review")
    services.common.clock.advance(seconds=80)
    renewed = _post(ola, queue[0], "claim")
    services.common.clock.advance(seconds=80)

    still_held = _opened(mara.get("/review"))
    services.common.clock.advance(seconds=20)
    free_again = _opened(mara.get("/review"))

    assert renewed.status_code == 204
    assert still_held == queue[1].id
    assert free_again == queue[0].id


def test_a_claim_ends_by_moving_on_by_deciding_and_by_leaving(services, queue, ola, mara):
    ola.get(f"/review/comments/{queue[0].id}")
    ola.get(f"/review/comments/{queue[1].id}")
    moved_on = services.review.claims.find([c.id for c in queue], now=NOW)
    rule(ola, queue[1], "approve", then="")
    decided = services.review.claims.find([c.id for c in queue], now=NOW)
    ola.get(f"/review/comments/{queue[2].id}")
    _post(ola, queue[2], "claim", end="1")
    left = services.review.claims.find([c.id for c in queue], now=NOW)

    assert set(moved_on) == {queue[1].id}
    assert decided == {}
    assert left == {}


def test_renewing_a_claim_that_somebody_else_has_is_answered_so(queue, ola, mara):
    ola.get(f"/review/comments/{queue[0].id}")

    answer = _post(mara, queue[0], "claim")

    assert answer.status_code == 409


def test_who_only_looks_claims_nothing_and_is_offered_no_decision(services, queue, app):
    page = _reader(services, app).get("/review")

    assert services.review.claims.find([c.id for c in queue], now=NOW) == {}
    assert 'class="rule"' not in page.text


class _AwayClaimStore:
    """A store that is away whenever something is asked of it."""

    def take(self, *_args, **_named):
        """Raise as an adapter whose backend is away."""
        raise StoreUnavailableError("away")

    find = end = find_last = take


def test_without_claims_the_queue_works_all_the_same(queue):
    services = make_services(claims=_AwayClaimStore())
    comment = keep(services)
    client = signed_in(services)

    page = client.get("/review")
    answer = rule(client, comment, "approve")

    assert _opened(page) == comment.id
    assert answer.status_code == 303


def test_how_long_a_moderator_looked_is_known_from_the_claim(services, queue, ola, mara):
    ola.get(f"/review/comments/{queue[0].id}")
    ola_user, mara_user = services.accounts.users.find("Ola"), services.accounts.users.find("Mara")

    services.common.clock.advance(seconds=12.5)
    soon = seconds_since_opening(queue[0].id, ola_user, services.review, services.common)
    services.common.clock.advance(minutes=20)
    without_script = seconds_since_opening(queue[0].id, ola_user, services.review, services.common)
    services.common.clock.advance(minutes=20)

    assert soon == 12.5
    assert without_script == 1212.5
    assert seconds_since_opening(queue[0].id, ola_user, services.review, services.common) is None
    assert seconds_since_opening(queue[0].id, mara_user, services.review, services.common) is None
    assert claims_of_others([queue[0].id], mara_user, services.review, services.common) == {}


def test_a_skipped_comment_moves_to_the_end_and_is_free_for_others(queue, ola, mara):
    ola.get("/review")

    answer = _post(ola, queue[0], "skip", then=queue[1].id)
    page = ola.get(answer.location)
    again = ola.get("/review")

    assert _opened(page) == queue[1].id
    assert "Skipped." in page.text
    assert _listed(again) == [queue[1].id, queue[2].id, queue[0].id]
    assert _opened(mara.get("/review")) == queue[0].id


def test_a_skipped_comment_comes_back_once_all_others_are_done(services, queue, ola):
    _post(ola, queue[0], "skip")
    for comment in queue[1:]:
        decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Mara")

    page = ola.get("/review")

    assert _opened(page) == queue[0].id
    assert '<span class="chip">skipped</span>' in page.text


def test_a_note_goes_with_the_ruling_and_stands_in_the_history(services, queue, ola):
    rule(ola, queue[0], "reject", note="  <b>third</b> time this week ")

    page = ola.get(f"/review/comments/{queue[0].id}")

    assert services.review.cases.get(queue[0].id).decision.note == "<b>third</b> time this week"
    assert "&lt;b&gt;third&lt;/b&gt; time this week" in page.text


def test_a_note_longer_than_its_field_is_refused(services, queue, ola):
    answer = rule(ola, queue[0], "reject", note="x" * 501)

    assert answer.status_code == 400
    assert services.review.cases.get(queue[0].id).decision is None


def test_comments_are_selected_only_by_who_may_decide_them(services, queue, app, ola):
    reader = _reader(services, app)

    pages = [client.get("/review").text for client in (reader, ola)]

    ticks = [page.count('class="tick"') for page in pages]

    assert ticks == [0, 3]
    assert 'action="/review/bulk"' in pages[1]
    assert f'name="id" value="{queue[0].id}" form="selection"' in pages[1]


def test_words_are_blurred_for_who_asked_for_it_until_they_choose_to_see_them(services, queue, ola):
    seen_by_others = ola.get("/review")
    user = services.accounts.users.find("Ola")
    services.accounts.users.replace(replace(user, preferences=Preferences(blur=True)))

    page = ola.get("/review")

    assert "is-blurred" not in seen_by_others.text
    assert '<body class="desk is-blurred"' in page.text
    assert "Show the words" in page.text
