"""A static site is built anew when what it shows has changed, once for all changes of a minute."""

from __future__ import annotations

import itertools
import json

import pytest

from service.domain.decision import Ruling
from service.domain.delivery import DeliveryState
from service.domain.errors import InvalidInputError
from service.moderation.intake.take_over import take_over_rulings
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.privacy.erase import erase_person, find_person
from service.moderation.telling.callbacks import (
    replay_deliveries,
    resume_applier,
    set_build_hook,
)
from service.outbound.guard import OutboundRules
from tests.building import HAM, SCENARIOS, UNSURE, BuiltSite
from tests.factories import SITE
from tests.sites import with_status

TOKEN = "scoped-token-0123456789"


@pytest.fixture
def world():
    made = BuiltSite()
    yield made
    made.hook.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_what_the_hook_is_called_for(scenario, world):
    scenario.happens(world)

    assert world.said == [f"POST /build_hooks/hush → {one}" for one in scenario.answers]
    assert {one.state for one in world.messages()} <= {DeliveryState.DELIVERED}


def test_a_call_is_a_plain_post_and_names_no_comment(world):
    world.decide(world.submit())
    world.wait(60)

    [received] = world.hook.received
    assert received.line == "POST /build_hooks/hush HTTP/1.1"
    assert received.body == b""
    assert "authorization" not in received.headers


def test_changes_of_three_minutes_are_a_minute_apart_at_least(world):
    at = []
    for number in range(36):
        world.decide(world.submit())
        before = world.calls
        world.wait(5)
        at += [5 * number] * (world.calls - before)

    assert 2 <= len(at) <= 3
    assert all(later - earlier >= 60 for earlier, later in itertools.pairwise(at))


def test_what_is_shown_without_a_ruling_is_built_in_and_its_rejection_out(world):
    comment_id = world.submit(HAM)
    world.wait(120)
    shown = world.calls
    # An approval changes nothing that is shown.
    world.decide(comment_id)
    world.wait(120)
    approved = world.calls
    world.decide(comment_id, Ruling.REJECT)
    world.wait(120)

    assert (shown, approved, world.calls) == (1, 1, 2)


def test_an_approval_that_another_build_took_along_is_built_out_when_it_is_undone(world):
    world.decide(world.submit())
    world.wait(50)
    comment_id = world.submit()
    world.decide(comment_id)
    world.wait(10)
    took_along = world.calls
    world.undo(comment_id)
    world.wait(120)

    assert (took_along, world.calls) == (1, 2)


def test_what_is_withdrawn_at_the_site_or_erased_is_built_out(world):
    first, second = world.submit(HAM), world.submit(HAM)
    held = world.submit(UNSURE)
    world.wait(120)
    shown = world.calls
    withdraw_comment(held, world.services, by="site")
    world.wait(120)
    after_held = world.calls
    withdraw_comment(first, world.services, by="site")
    world.wait(120)
    after_withdrawal = world.calls
    name = world.services.cases.get(second).comment.author.name
    erase_person(find_person(world.services, name=name), world.services, by="ada")
    world.wait(120)

    assert (shown, after_held, after_withdrawal, world.calls) == (1, 1, 2, 3)


def test_rulings_that_the_site_itself_makes_build_it_too(world):
    comment_id = world.submit()
    take_over_rulings(
        {comment_id: Ruling.APPROVE}, world.services, site_id=SITE, decided_by="import"
    )
    world.wait(120)

    assert world.calls == 1


def test_while_the_host_is_away_it_is_called_once_a_minute_at_most_and_nothing_is_lost(world):
    world.answers = with_status(503)
    for _ in range(5):
        world.decide(world.submit())
    world.wait(600)
    tried = world.calls

    world.answers = with_status(200)
    world.wait(7_200, step=60)

    assert 2 <= tried <= 10
    assert world.calls == tried + 1
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_hook_that_is_gone_stops_and_loses_nothing(world, status):
    world.answers = with_status(status)
    world.decide(world.submit())
    world.wait(24 * 3_600, step=3_600)
    world.decide(world.submit())
    world.wait(3_600, step=60)
    stopped = world.services.endpoints.get(SITE).refused_at

    world.answers = with_status(200)
    resume_applier(SITE, world.services, actor="ada")
    world.wait(120)

    assert stopped is not None
    assert world.calls == 2
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}


def test_github_is_told_an_event_with_the_token(world):
    url = world.hook.url("/repos/ada/blog/dispatches")
    set_build_hook(SITE, url, world.services, actor="test", token=f"{TOKEN}\n")
    world.answers = with_status(204)
    world.decide(world.submit())
    world.wait(60)

    [received] = world.hook.received
    assert received.headers["authorization"] == f"Bearer {TOKEN}"
    assert json.loads(received.body) == {"event_type": "slopsieve"}
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}
    assert TOKEN not in repr(world.services.endpoints.get(SITE))


def test_what_was_given_up_is_told_by_a_later_build(world):
    world.answers = with_status(500)
    world.decide(world.submit())
    world.wait(48 * 3_600, step=600)
    dead = world.messages(DeliveryState.DEAD)
    world.answers = with_status(200)
    world.decide(world.submit())
    world.wait(120)
    calls = world.calls

    replay_deliveries(world.services, actor="ada")
    world.wait(120)

    assert len(dead) == 1
    assert world.calls == calls
    assert {one.state for one in world.messages()} == {DeliveryState.DELIVERED}


@pytest.mark.parametrize(
    ("url", "token", "field"),
    [
        ("https://127.0.0.2/hook", None, "url"),
        ("ftp://a.example", None, "url"),
        (None, "short", "token"),
    ],
)
def test_a_wrong_address_or_token_is_refused_by_name(world, url, token, field):
    if url:
        world.services.notifier._rules = OutboundRules()

    with pytest.raises(InvalidInputError) as refused:
        set_build_hook(SITE, url or world.url, world.services, actor="ada", token=token)

    assert [problem.field for problem in refused.value.problems] == [field]
