"""A site chooses over the API where it is told, reads the log and replays what it missed."""

from __future__ import annotations

import pytest

from service.domain.delivery import DeliveryForm
from service.moderation.callbacks import set_applier
from tests.factories import SITE
from tests.fakes import deliver_all

URL = "https://blog.example/hook"


@pytest.fixture
def told(api, services):
    """The site's client, once the site is told of everything."""
    api.put("/v1/site/callback", json={"url": URL})
    return api


def test_the_secret_is_shown_once_and_a_removed_callback_is_gone(api):
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
    assert api.delete("/v1/site/callback").get_json()["url"] == URL + "/2"
    assert api.get("/v1/site/callback").status_code == 404


@pytest.fixture
def given_up(told, services):
    """The messages that the site did not take, as it reads them."""
    services.notifier.status = 410
    told.post("/v1/comments", json={"text": "One."})
    deliver_all(services)
    services.notifier.status = 200
    return told.get("/v1/site/deliveries?state=dead").get_json()["deliveries"]


def test_a_message_that_was_given_up_tells_every_attempt_and_is_replayed(told, services, given_up):
    path = f"/v1/site/deliveries/{given_up[0]['id']}"
    log = told.get(path).get_json()

    answer = told.post(f"{path}/replay")
    again = told.post(f"{path}/replay")
    deliver_all(services)

    assert {one["event"] for one in given_up} == {"comment.judged", "comment.needs_review"}
    assert log["delivery"] == given_up[0]
    assert [one["status"] for one in log["log"]] == [410]
    assert (answer.status_code, answer.get_json()["state"]) == (200, "waiting")
    assert again.status_code == 409
    assert told.get(path).get_json()["delivery"]["state"] == "delivered"


def test_a_sites_key_does_not_change_where_its_owner_applies_decisions(api, services):
    set_applier(SITE, DeliveryForm.GITHUB, "token-of-the-owner", services, actor="ada")
    before = services.endpoints.get(SITE)

    answers = [
        api.put("/v1/site/callback", json={"url": URL}),
        api.put("/v1/site/callback", json={"url": URL, "rotate": True}),
        api.delete("/v1/site/callback"),
    ]

    assert [answer.status_code for answer in answers] == [409, 409, 409]
    assert "slopsieve callbacks" in answers[0].text
    assert "token-of-the-owner" not in api.get("/v1/site/callback").text
    assert services.endpoints.get(SITE) == before
