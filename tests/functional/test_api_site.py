"""A site minds its own settings, keys and callback, reads the log and replays what it missed."""

import hashlib

import pytest

from service.domain.delivery import DeliveryForm
from service.moderation.callbacks import set_applier
from tests.factories import SITE
from tests.fakes import deliver_all
from tests.functional.conftest import client_with


def test_settings_that_are_left_out_stay_and_those_that_are_gone_are_ignored(api):
    api.patch("/v1/site/settings", json={"mode": "enforce", "spam_cutoff": 0.8})

    body = api.patch("/v1/site/settings", json={"languages": ["en", "pt-BR"]}).get_json()

    assert body["settings"] == {
        "mode": "enforce",
        "ham_cutoff": None,
        "spam_cutoff": 0.8,
        "holds_unsure": True,
        "reports_decide": False,
        "undo_seconds": 30,
        "rejects_campaigns": False,
    }
    assert api.get("/v1/site").get_json() == body


def test_everything_wrong_with_settings_is_named(api):
    body = {"mode": "panic", "ham_cutoff": -1, "spam_cutoff": "0.5", "x": 1}

    answer = api.patch("/v1/site/settings", json=body)

    fields = [e["field"] for e in answer.get_json()["errors"]]
    assert answer.status_code == 422
    assert fields == ["mode", "ham_cutoff", "spam_cutoff", "x"]


def test_cutoffs_never_cross_whichever_was_set_first(api):
    api.patch("/v1/site/settings", json={"spam_cutoff": 0.5})

    answer = api.patch("/v1/site/settings", json={"ham_cutoff": 0.6})

    assert answer.status_code == 422
    assert [e["field"] for e in answer.get_json()["errors"]] == ["ham_cutoff"]
    assert api.get("/v1/site").get_json()["settings"]["ham_cutoff"] is None


def test_a_new_key_works_and_is_kept_and_listed_without_its_secret(api, app, services, site_key):
    issued = api.post("/v1/site/keys", json={})

    secret = issued.get_json()["secret"]
    kept, _ = services.sites.find_key(hashlib.sha256(secret.encode()).hexdigest())
    listed = api.get("/v1/site/keys")
    assert issued.status_code == 201
    assert secret.startswith("slop_")
    assert kept.id == issued.get_json()["key"]["id"]
    assert secret not in repr(kept) + listed.text
    assert [key["hint"] for key in listed.get_json()["keys"]] == [site_key[:9], secret[:9]]
    assert client_with(app, secret).get("/v1/site").status_code == 200


def test_the_last_valid_key_cannot_be_revoked(api):
    only = api.get("/v1/site/keys").get_json()["keys"][0]["id"]
    ended = api.post("/v1/site/keys", json={}).get_json()["key"]["id"]
    api.delete(f"/v1/site/keys/{ended}")

    answer = api.delete(f"/v1/site/keys/{only}")

    assert answer.status_code == 409
    assert api.get("/v1/site").status_code == 200


def test_the_script_of_a_sites_forms_is_there_once_it_is_asked_for(api, stranger):
    first, again = (api.put("/v1/site/form").get_json() for _ in range(2))

    assert first == again
    assert stranger.get(first["script"]).status_code == 200
    assert stranger.get(f"/public/{first['hook_id']}/form-token").status_code == 200


URL = "https://blog.example/hook"


@pytest.fixture
def told(api, services):
    """The site's client, once the site is told of everything."""
    api.put("/v1/site/callback", json={"url": URL})
    return api


def test_the_secret_is_shown_once_and_a_removed_callback_is_gone(api):
    first = api.put("/v1/site/callback", json={"url": URL}).get_json()
    rotated = api.put("/v1/site/callback", json={"url": URL, "rotate": True}).get_json()
    second = api.put("/v1/site/callback", json={"url": URL + "/2"}).get_json()

    assert first["secret"].startswith("whsec_")
    assert rotated["secret"] not in (first["secret"], None)
    assert second["secret"] is None
    read = api.get("/v1/site/callback")
    assert read.get_json() == {
        "url": URL + "/2",
        "events": ["comment.judged", "comment.needs_review", "comment.decided"],
        "secrets": 2,
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
