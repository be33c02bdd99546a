"""The parts of every adapter: types, signature checks, and processing of events."""

import base64
import hashlib
import hmac
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from flask import request
from flask.typing import ResponseReturnValue

from service.domain.comment import Comment
from service.domain.delivery import InboundHook
from service.domain.errors import NotAuthenticatedError
from service.domain.site import Site
from service.domain.webhook_secret import webhook_key
from service.moderation.revise import find_state, submit_version, withdraw_versions
from service.ports.comments import NewComment
from service.web.edge.current import services

log = logging.getLogger(__name__)

# A comment, its issue and the text before an edit have less than 1.2 MB if all is escaped.
MAX_BODY_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request to a hook: the hook, its site and the body."""

    hook: InboundHook
    site: Site
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The platform shows this comment now: a new, edited or restored one.

    `by_staff` is True for an edit by a moderator who is not the author.
    """

    new: NewComment
    recovers: bool = False
    by_staff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """The platform has not shown this comment since `at`; None means now."""

    site_comment_id: str
    at: datetime | None = None


Event = Shown | Deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A platform's request handling.

    `verify` raises `NotAuthenticatedError` unless the platform sent the request; None accepts any
    browser. `serve` returns the response to a verified request.
    """

    verify: Callable[[Received], None] | None
    serve: Callable[[Received], ResponseReturnValue]
    max_body_bytes: int = MAX_BODY_BYTES


Read = Callable[[Received], Event | None]
"""Returns a request's event, or None if it is not about a comment.

Raises `UnreadableRequestError` or `InvalidInputError` if the payload is not the platform's.
"""


# A rotation needs two.
_MAX_SIGNATURES = 16
_MAX_HEADER_CHARS = 4_096
_HEX_PREFIX = "sha256="
# Recommended by Standard Webhooks. A retry has a new timestamp.
_TOLERANCE_SECONDS = 300
# GitHub can redeliver for three days.
_REMEMBERED = timedelta(days=7)


def require_hex_signature(given: str | None, body: bytes, secret: str, *, header: str) -> None:
    """Raise `NotAuthenticatedError` unless one of the `sha256=<hex>` signs the body.

    The header's signatures are comma-separated.
    """
    entries = _entries(given, ",", header)
    signatures = [e[len(_HEX_PREFIX) :] for e in entries if e.startswith(_HEX_PREFIX)]
    if not signatures:
        raise NotAuthenticatedError(f"{header} has no sha256= signature; SHA-1 is not accepted.")
    _require_one(signatures, hmac.new(_bytes(secret), body, hashlib.sha256).hexdigest(), header)


def signed_in(header: str) -> Callable[[Received], None]:
    """Return `Adapter.verify` for a platform with a `sha256=` signature in this header."""
    return lambda received: require_hex_signature(
        request.headers.get(header), received.body, received.hook.secret, header=header
    )


def require_standard_signature(received: Received) -> None:
    """Raise `NotAuthenticatedError` unless the request is a valid Standard Webhook.

    It must be signed with the `whsec_` secret, and its timestamp be at most five minutes off now.
    """
    headers = request.headers
    message_id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp")
    if not message_id or not timestamp:
        raise NotAuthenticatedError("webhook-id or webhook-timestamp is missing.")
    if not re.fullmatch("[0-9]{1,11}", timestamp):
        raise NotAuthenticatedError("webhook-timestamp is not in Unix seconds.")
    if abs(services.clock().timestamp() - int(timestamp)) > _TOLERANCE_SECONDS:
        raise NotAuthenticatedError("webhook-timestamp is more than five minutes off.")
    entries = _entries(headers.get("webhook-signature"), None, "webhook-signature")
    signatures = [e.removeprefix("v1,") for e in entries if e.startswith("v1,")]
    signed = b".".join((_bytes(message_id), _bytes(timestamp), received.body))
    # `hooks add` only accepts valid secrets.
    digest = hmac.digest(webhook_key(received.hook.secret), signed, "sha256")
    _require_one(signatures, base64.b64encode(digest).decode(), "webhook-signature")


def _entries(given: str | None, separator: str | None, header: str) -> list[str]:
    if not given:
        raise NotAuthenticatedError(f"{header} is missing: the request is not signed.")
    entries = given[:_MAX_HEADER_CHARS].split(separator)[:_MAX_SIGNATURES]
    return [entry.strip() for entry in entries]


def _require_one(signatures: list[str], expected: str, header: str) -> None:
    # Compares all, so that the time does not depend on which one matches.
    matches = [hmac.compare_digest(_bytes(one), expected.encode()) for one in signatures]
    if not any(matches):
        raise NotAuthenticatedError(f"{header} does not fit the body and the secret of this hook.")


def _bytes(text: str) -> bytes:
    # Header values are Latin-1; other characters match no signature.
    return text.encode("utf-8", "surrogatepass")


def serve_events(
    read: Read, *, id_header: str | None = None
) -> Callable[[Received], ResponseReturnValue]:
    """Return `Adapter.serve` for a platform that sends events.

    `id_header` has a delivery's id, if it has one. The status is 2xx for every valid request,
    because platforms disable hooks that fail.
    """

    def serve(received: Received) -> ResponseReturnValue:
        # Most platforms do not sign the id's header, so the signed body is remembered too.
        body = f"body:{hashlib.sha256(received.body).hexdigest()}"
        delivery_id = request.headers.get(id_header) if id_header else None
        names = [body, f"id:{delivery_id}"] if delivery_id else [body]
        now = services.clock()
        since = now - _REMEMBERED
        has_seen = partial(services.inbound.has_seen, received.hook.id, since=since)
        if delivery_id and has_seen(names[1]):
            return {"status": "duplicate"}
        event = read(received)
        # A comment that was restored or edited back has the same body as at first.
        led_to = _states(event, received.site, body)
        if has_seen(body) and all(map(has_seen, led_to)):
            return {"status": "duplicate"}
        platform = received.hook.platform.value
        by = f"{platform} webhook"
        if isinstance(event, Shown):
            submit_version(
                event.new, services, by=by, recovers=event.recovers, by_staff=event.by_staff
            )
        elif event:
            withdraw_versions(
                received.site.id, event.site_comment_id, services, by=by, deleted_at=event.at
            )
        # Last, so that an interrupted delivery is processed when it is sent again.
        for name in (*names, *_states(event, received.site, body)):
            services.inbound.remember(received.hook.id, name, at=now, forget=since)
        kind = type(event).__name__.lower() if event else "none"
        extra = {"hook": received.hook.id, "platform": platform, "events": kind}
        log.info("webhook received", extra=extra)
        return ({"status": "accepted"}, 202) if event else {"status": "ignored"}

    return serve


def is_late(comment: Comment) -> bool:
    """Return True if a comment is older than the remembered deliveries."""
    return comment.written_at is not None and comment.written_at < services.clock() - _REMEMBERED


def _states(event: Event | None, site: Site, body: str) -> list[str]:
    """Return the name of this body with the comment's current state; empty if it is unknown."""
    if event is None:
        return []
    known = event.new.comment if isinstance(event, Shown) else event
    own_id = known.site_comment_id
    state = find_state(site.id, own_id, services) if own_id else None
    return [f"{body}:{state}"] if state else []
