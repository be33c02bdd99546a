"""What the WordPress plugin sends is understood, and the service answers what the plugin reads."""

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from models.inputs import ModelOutput
from service.web.api.blueprint import FORM_SCRIPT_HEADER
from service.web.plugins.archive import WORDPRESS
from tests.factories import SITE
from tests.fakes import deliver_all

# As it was recorded from a real WordPress 6.4.5, PHP 8.2, to `/v1`. Texts are this project's own;
# ids, which the service makes, are put in where they stood.
CONNECTING: list[tuple[str, str, Mapping[str, object] | None]] = [
    ("GET", "/v1/site", None),
    ("GET", "/v1/site/callback", None),
    (
        "PUT",
        "/v1/site/callback",
        {
            "url": "https://blog.example/index.php?rest_route=/slopsieve/v1/callback",
            "events": ["comment.judged", "comment.decided"],
            "rotate": True,
        },
    ),
    ("GET", "/v1/site/deliveries?limit=1", None),
    ("PUT", "/v1/site/form", None),
]

SUBMIT = "/v1/comments?wait=3"
COMMENT: Mapping[str, object] = {
    "text": "I started doing it in March because my Manila people were always reading minutes.",
    "post": {"url": "https://blog.example/?p=33", "title": "Notes after two years"},
    "author": {"name": "Soledad", "email": "visitor41@mail.example"},
    "address": "198.51.100.42",
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64)",
    "written_at": "2026-03-01T06:50:23Z",
    "form": {
        "honeypot_filled": False,
        # A token of another installation; how the form was filled in stands behind it.
        "token": "eyJiZWhhdmlvdXIiOnsicG9pbnRlciI6MiwidG91Y2giOjAsInNjcm9sbCI6Mywic2Vjb25kcyI6Mi40"
        "OTgsImRyaXZlbiI6ZmFsc2UsImtleXMiOjEyMCwicGFzdGVzIjowLCJvdGhlcl9pbnB1dHMiOjN9fQ==",
    },
    "site_comment_id": "wp-d8fbe456-42-b1ab2ab2",
}


@pytest.fixture
def connected(api):
    """What each request of a connection test is answered."""
    return {
        path.partition("?")[0]: api.open(path, method=method, json=body)
        for method, path, body in CONNECTING
    }


def _judged(api, **changes) -> dict:
    return api.post(SUBMIT, json={**COMMENT, **changes}).get_json()


def _tell_all(services) -> list[dict]:
    """Return the messages to the site, in order."""
    services.notifier.sent.clear()
    deliver_all(services)
    return [json.loads(delivery.payload) for delivery, _ in services.notifier.sent]


def test_a_connection_learns_who_the_site_is_its_secret_and_its_script(connected):
    bodies = {path: answer.get_json() for path, answer in connected.items()}

    assert {answer.status_code for answer in connected.values()} == {200}
    assert bodies["/v1/site"]["id"] == SITE
    assert {"name", "settings"} <= set(bodies["/v1/site"])
    assert bodies["/v1/site/callback"]["secret"].startswith("whsec_")
    assert bodies["/v1/site/deliveries"]["deliveries"] == []
    assert bodies["/v1/site/form"]["script"].endswith("/form.js")


def test_every_answer_tells_the_hash_by_which_the_plugin_pins_the_forms_script(api, connected):
    served = api.get(connected["/v1/site/form"].get_json()["script"] + "?ver=0f1e").data
    digest = base64.b64encode(hashlib.sha384(served).digest()).decode()

    judged = api.post(SUBMIT, json=COMMENT)

    for answer in (*connected.values(), judged):
        assert answer.headers[FORM_SCRIPT_HEADER] == f"sha384-{digest}"
    asking = (WORDPRESS / "includes" / "service.php").read_text("utf-8")
    assert f"'{FORM_SCRIPT_HEADER.lower()}'" in asking


@pytest.mark.parametrize(
    ("p_spam", "outcome", "action"),
    [(0.01, "ham", "publish"), (0.5, "unsure", "hold"), (0.99, "spam", "hold")],
)
def test_a_comment_is_answered_with_what_the_plugin_reads(api, classifier, p_spam, outcome, action):
    classifier.answer = ModelOutput(p_spam=p_spam)

    case = _judged(api)

    verdict = case["verdict"]
    assert (verdict["outcome"], case["action"], case["decision"]) == (outcome, action, None)
    assert verdict["explanation"]
    assert {"p_spam", "degraded", "promo_spans", "signals"} <= set(verdict)
    assert all({"contribution", "spans"} <= set(signal) for signal in verdict["signals"])


def test_what_the_form_saw_arrives_and_a_retry_that_forgot_it_is_the_same_comment(api, services):
    first = _judged(api, form=COMMENT["form"] | {"honeypot_filled": True})
    again = _judged(api, form=None)

    form = services.cases.get(first["id"]).comment.form
    assert (form.honeypot_filled, form.behaviour.keys) == (True, 120)
    assert first["id"] == again["id"]


def test_a_decision_made_in_wordpress_arrives_is_taken_back_and_comes_back_once(
    api, connected, services
):
    case = _judged(api)
    _tell_all(services)
    ruling = {"ruling": "approve", "decided_by": "admin"}

    decided = api.post(case["links"]["decision"], json=ruling).get_json()
    (told,) = _tell_all(services)
    repeated = api.post(case["links"]["decision"], json=ruling)
    told_again = _tell_all(services)
    undone = api.delete(case["links"]["decision"]).get_json()
    nothing = api.delete(case["links"]["decision"])

    assert decided["decision"]["decided_by"] == "site: admin"
    # The plugin compares it with the time of a decision that it could not tell.
    assert datetime.fromisoformat(decided["decisions"][0]["decided_at"]).tzinfo == UTC
    assert (told["type"], told["data"]["ruling"]) == ("comment.decided", "approve")
    assert told["data"]["id"] == case["id"]
    assert told["data"]["site_comment_id"] == COMMENT["site_comment_id"]
    assert repeated.status_code == 200
    assert told_again == []
    assert (undone["decision"], undone["decisions"][0]["undone_by"]) == (None, "site")
    # The plugin takes this for an answer: there is nothing left to take back.
    assert nothing.status_code == 404
    assert nothing.get_json()["type"]
