"""Platforms that send to hooks, each with its own way to sign."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.domain.case import Case, CaseFilter, Order
from service.domain.delivery import InboundHook, Platform
from service.ports.services import Services
from tests.factories import NOW, SITE

SECRET = "twenty random bytes, say"
WHSEC = "whsec_" + base64.b64encode(bytes(range(32))).decode()


def hex_signature(body: bytes, *secrets: str) -> str:
    keys = [secret.encode() for secret in secrets or (SECRET,)]
    return ", ".join(f"sha256={hmac.new(key, body, hashlib.sha256).hexdigest()}" for key in keys)


def standard_headers(
    body: bytes, *secrets: str, message_id: str = "msg_1", at: int | None = None
) -> dict[str, str]:
    timestamp = str(int(NOW.timestamp()) if at is None else at)
    keys = [base64.b64decode(one.removeprefix("whsec_")) for one in secrets or (WHSEC,)]
    signed = f"{message_id}.{timestamp}.".encode() + body
    digests = [base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(("v1a,AAAA", *(f"v1,{digest}" for digest in digests))),
    }


SIGN: dict[Platform, Callable[..., dict[str, str]]] = {
    Platform.CORAL: lambda *given: {"X-Coral-Signature": hex_signature(*given)},
    Platform.DISCOURSE: lambda *given: {"X-Discourse-Event-Signature": hex_signature(*given)},
    Platform.GITHUB: lambda *given: {"X-Hub-Signature-256": hex_signature(*given)},
    Platform.STANDARD: standard_headers,
}
SECRETS = dict.fromkeys(Platform, SECRET) | {Platform.STANDARD: WHSEC}


def add_hook(services: Services, platform: Platform, **changes: Any) -> str:
    values = {
        "id": f"hook_{platform.value}",
        "site_id": SITE,
        "platform": platform,
        "secret": SECRETS[platform],
        "created_at": NOW,
    }
    services.inbound.add(InboundHook(**(values | changes)))
    return str((values | changes)["id"])


Send = Callable[..., TestResponse]


@pytest.fixture
def send(services: Services, stranger: FlaskClient) -> Send:
    """Send a payload as a platform does: signed, with its headers; the hook is made when needed."""

    def deliver(
        platform: Platform, payload: Any, headers: dict[str, str] | None = None, **changes: Any
    ) -> TestResponse:
        if services.inbound.get(f"hook_{platform.value}") is None:
            add_hook(services, platform)
        body = payload if isinstance(payload, bytes) else json.dumps(payload, indent=2).encode()
        return stranger.post(
            f"/hooks/hook_{platform.value}",
            data=body,
            headers={
                "Content-Type": "application/json",
                **SIGN[platform](body, **changes),
                **(headers or {}),
            },
        )

    return deliver


@pytest.fixture
def github(send: Send) -> Send:
    """Send a GitHub event; a delivery is a new one unless `guid` says otherwise."""
    count = iter(range(1, 1_000))

    def deliver(
        payload: Any, event: str = "issue_comment", *, guid: str | None = None
    ) -> TestResponse:
        guid = guid or f"guid-{next(count)}"
        headers = {"X-GitHub-Event": event, "X-GitHub-Delivery": guid}
        return send(Platform.GITHUB, payload, headers)

    return deliver


@pytest.fixture
def discourse(send: Send) -> Send:
    """Send a Discourse event; an event is a new one unless `event_id` says otherwise."""
    count = iter(range(1, 1_000))

    def deliver(
        payload: Any, event: str = "post_created", *, event_id: str | None = None
    ) -> TestResponse:
        headers = {
            "X-Discourse-Instance": "https://forum.example",
            "X-Discourse-Event-Id": event_id or str(next(count)),
            "X-Discourse-Event": event,
        }
        return send(Platform.DISCOURSE, payload, headers)

    return deliver


def all_cases(services: Services) -> list[Case]:
    """Return every case of the site, in the order of arrival."""
    page = services.cases.page(
        CaseFilter(site_ids=(SITE,)), order=Order.NEWEST, cursor=None, limit=200
    )
    return sorted(page.items, key=lambda case: case.comment.id)


def only_case(services: Services) -> Case:
    (case,) = all_cases(services)
    return case
