"""A site chooses over the API where it is told, reads the log and replays what it missed."""

from __future__ import annotations

import pytest

from service.domain.delivery import DeliveryForm
from service.moderation.admin.sites import issue_key
from service.moderation.telling.callbacks import set_applier
from service.moderation.telling.deliver import deliver, take_deliveries
from service.outbound.guard import OutboundRules
from service.outbound.sender import HttpSiteNotifier
from service.web.app import create_app
from tests.factories import SITE
from tests.fakes import with_ports
from tests.functional.conftest import client_with

URL = "https://blog.example/hook"


@pytest.fixture
def told(api, services):
    """The site's client, once the site is told of everything."""
    api.put("/v1/site/callback", json={"url": URL})
    return api


def run_all(services):
    while taken := take_deliveries(services.telling, services.common, limit=99):
        for one in taken:
            deliver(one, services)


def test_the_secret_is_shown_once(api):
    first = api.put("/v1/site/callback", json={"url": URL}).get_json()
    second = api.put("/v1/site/callback", json={"url": URL + "/2"}).get_json()

    assert first["secret"].startswith("whsec_")
    assert second["secret"] is None
    read = api.get("/v1/site/callback")
    assert read.get_json() == {
        "url": URL + "/2",
        "events": ["comment.judged", "comment.needs_review", "comment.decided"],
        "secrets": 1,
    }
    assert "whsec_" not in read.text


def test_a_removed_callback_is_gone(told):
    removed = told.delete("/v1/site/callback")

    assert removed.get_json()["url"] == URL
    assert told.get("/v1/site/callback").status_code == 404


@pytest.mark.parametrize(
    "url",
    [
        "http://blog.example/hook",
        "https://127.0.0.1/hook",
        "https://0x7f.1/hook",
        "https://[::ffff:169.254.169.254]/hook",
        "https://me@blog.example/hook",
        "https://blog.example:6379/",
        "file:///etc/passwd",
        "",
    ],
)
def test_a_hostile_address_is_refused_by_name(url, services, config):
    real = with_ports(services, notifier=HttpSiteNotifier(OutboundRules()))
    api = client_with(
        create_app(real, config, {}), issue_key(SITE, real.common, actor="test").secret
    )

    answer = api.put("/v1/site/callback", json={"url": url})

    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == ["url"]
    assert url == "" or url not in answer.text


def test_the_log_tells_every_attempt_in_fixed_words(told, services):
    services.telling.notifier.status = 410
    told.post("/v1/comments", json={"text": "One."})
    run_all(services)

    dead = told.get("/v1/site/deliveries?state=dead").get_json()["deliveries"]
    log = told.get(f"/v1/site/deliveries/{dead[0]['id']}").get_json()

    assert {one["event"] for one in dead} == {"comment.judged", "comment.needs_review"}
    assert log["delivery"] == dead[0]
    assert [one["status"] for one in log["log"]] == [410]


def test_a_message_that_was_given_up_is_replayed(told, services):
    services.telling.notifier.status = 410
    told.post("/v1/comments", json={"text": "One."})
    run_all(services)
    services.telling.notifier.status = 200
    [first, *_] = told.get("/v1/site/deliveries?state=dead").get_json()["deliveries"]

    answer = told.post(f"/v1/site/deliveries/{first['id']}/replay")
    again = told.post(f"/v1/site/deliveries/{first['id']}/replay")
    run_all(services)

    assert (answer.status_code, answer.get_json()["state"]) == (200, "waiting")
    assert again.status_code == 409
    read = told.get(f"/v1/site/deliveries/{first['id']}").get_json()
    assert read["delivery"]["state"] == "delivered"


def test_another_site_sees_and_replays_nothing(told, other_api, services):
    services.telling.notifier.status = 410
    told.post("/v1/comments", json={"text": "One."})
    run_all(services)
    [first, *_] = told.get("/v1/site/deliveries").get_json()["deliveries"]

    answers = [
        other_api.get(f"/v1/site/deliveries/{first['id']}"),
        other_api.post(f"/v1/site/deliveries/{first['id']}/replay"),
        other_api.get("/v1/site/deliveries/%00"),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert other_api.get("/v1/site/deliveries").get_json() == {"deliveries": []}


def test_a_sites_key_does_not_change_where_its_owner_applies_decisions(api, services):
    set_applier(
        SITE,
        DeliveryForm.GITHUB,
        "token-of-the-owner",
        services.telling,
        services.common,
        actor="ada",
    )
    before = services.telling.endpoints.get(SITE)

    answers = [
        api.put("/v1/site/callback", json={"url": URL}),
        api.put("/v1/site/callback", json={"url": URL, "rotate": True}),
        api.delete("/v1/site/callback"),
    ]

    assert [answer.status_code for answer in answers] == [409, 409, 409]
    assert "slopsieve callbacks" in answers[0].text
    assert "token-of-the-owner" not in api.get("/v1/site/callback").text
    assert services.telling.endpoints.get(SITE) == before
