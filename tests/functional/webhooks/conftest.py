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
HEADERS = {
    Platform.CORAL: "X-Coral-Signature",
    Platform.DISCOURSE: "X-Discourse-Event-Signature",
    Platform.GITHUB: "X-Hub-Signature-256",
}


def hex_signature(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard_headers(
    body: bytes, *, message_id: str = "msg_1", at: int | None = None, secret: str = WHSEC
) -> dict[str, str]:
    timestamp = str(int(NOW.timestamp()) if at is None else at)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{signature}",
    }


def add_hook(services: Services, platform: Platform, **changes: Any) -> str:
    values = {
        "id": f"hook_{platform.value}",
        "site_id": SITE,
        "platform": platform,
        "secret": WHSEC if platform is Platform.STANDARD else SECRET,
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
        if platform is Platform.STANDARD:
            signature = standard_headers(body, **changes)
        else:
            signature = {HEADERS[platform]: hex_signature(body)}
        return stranger.post(
            f"/hooks/hook_{platform.value}",
            data=body,
            headers={"Content-Type": "application/json", **signature, **(headers or {})},
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
