"""Each client tells the service's callbacks from those that somebody else wrote."""

from __future__ import annotations

import base64
import json
import random

import pytest
from jsonschema_rs import Draft202012Validator  # comes with schemathesis

from service.outbound.signing import sign
from service.web.clients.generate import describe_here
from service.web.clients.slopsieve_client import SlopsieveError
from tests.functional.callbacks.test_callback_api import run_all

NOW = 1_772_366_400
DOCUMENT = describe_here()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()


@pytest.fixture
def secret(api) -> str:
    return api.put("/v1/site/callback", json={"url": "https://blog.example/hook"}).get_json()[
        "secret"
    ]


@pytest.fixture
def bodies(api, secret, services) -> list[bytes]:
    """What the site is told of a comment that is judged, decided, and decided anew."""
    comment = api.post("/v1/comments", json={"text": "Füße: see https://boilers.example"})
    path = comment.get_json()["links"]["decision"]
    for ruling in ("reject", "approve"):
        api.post(path, json={"ruling": ruling})
    api.delete(path)
    run_all(services)
    return [delivery.payload.encode() for delivery, _ in services.telling.notifier.sent]


def headers_of(body: bytes, *secrets: str, at: int = NOW) -> dict[str, str]:
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": sign("msg_1", at, body, secrets),
    }


def test_every_message_of_the_service_is_read(driver, bodies, secret):
    read = [driver.verify(headers_of(body, secret), body, secret, at=NOW + 5) for body in bodies]

    assert read == [json.loads(body) for body in bodies]
    assert {message["type"] for message in read} >= {"comment.judged", "comment.decided"}


def test_every_message_is_as_the_document_says(bodies):
    (webhook,) = DOCUMENT["webhooks"].values()
    schema = webhook["post"]["requestBody"]["content"]["application/json"]["schema"]
    whole = Draft202012Validator(
        {**schema, "components": DOCUMENT["components"]}, validate_formats=True
    )

    assert [str(e) for body in bodies for e in whole.iter_errors(json.loads(body))] == []
    described = DOCUMENT["components"]["schemas"]["CallbackData"]["properties"]
    assert {name for body in bodies for name in json.loads(body)["data"]} == set(described)


def test_while_the_secret_is_changed_either_one_will_do(driver, bodies, secret):
    headers = headers_of(bodies[0], OTHER, secret)

    for either in (OTHER, secret):
        assert driver.verify(headers, bodies[0], either, at=NOW) == json.loads(bodies[0])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"Webhook-Signature": ""}, "webhook-signature"),
        ({"Webhook-Signature": "v1,not base64, v2,eHg= v1 v1, é"}, "webhook-signature"),
        ({"Webhook-Id": "msg_2"}, "webhook-signature"),
        ({"Webhook-Timestamp": str(NOW + 1)}, "webhook-signature"),
        ({"Webhook-Timestamp": "nan"}, "webhook-signature"),
    ],
)
def test_a_changed_header_is_refused(driver, bodies, secret, change, field):
    headers = headers_of(bodies[0], secret) | change

    with pytest.raises(SlopsieveError) as caught:
        driver.verify(headers, bodies[0], secret, at=NOW)

    assert caught.value.errors[0]["field"] == field
    assert secret not in str(caught.value)


def test_any_changed_byte_of_the_body_is_refused(driver, bodies, secret):
    headers = headers_of(bodies[0], secret)
    places = random.Random(7).sample(range(len(bodies[0])), 20)

    for place in places:
        changed = bytearray(bodies[0])
        changed[place] ^= 1
        with pytest.raises(SlopsieveError, match="webhook-signature"):
            driver.verify(headers, bytes(changed), secret, at=NOW)


def test_another_secret_or_none_is_refused(driver, bodies, secret):
    headers = headers_of(bodies[0], secret)

    with pytest.raises(SlopsieveError, match="webhook-signature"):
        driver.verify(headers, bodies[0], OTHER, at=NOW)
    for empty in ("", "whsec_", "whsec_AAAA", "no base64!"):
        with pytest.raises(SlopsieveError, match="secret signs nothing"):
            driver.verify(headers, bodies[0], empty, at=NOW)


@pytest.mark.parametrize("seconds", [-301, 301])
def test_a_message_of_another_time_is_refused(driver, bodies, secret, seconds):
    headers = headers_of(bodies[0], secret)

    assert driver.verify(headers, bodies[0], secret, at=NOW + seconds * 299 / 301)
    with pytest.raises(SlopsieveError, match="webhook-timestamp is not of now"):
        driver.verify(headers, bodies[0], secret, at=NOW + seconds)
