"""What every adapter is made of: its types, signature checks, and how events are carried out."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from flask import request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import Headers

from service.domain.comment import Comment
from service.domain.delivery import InboundHook
from service.domain.errors import NotAuthenticatedError
from service.domain.site import Site
from service.moderation.revise import find_state, submit_version, withdraw_versions
from service.ports.comments import NewComment
from service.web.edge.current import services

log = logging.getLogger(__name__)

# Platforms send the whole issue or report along; GitHub's own cap is 25 MB, which only pushes of
# many commits come near. A comment, its issue and the words before an edit stay below 1.2 MB with
# every character escaped.
MAX_BODY_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What Flask's `request` does not know of a call to a hook: whose it is, and its body."""

    hook: InboundHook
    site: Site
    body: bytes = field(repr=False)

    @property
    def by(self) -> str:
        """Return who acts, as the audit log names it."""
        return f"{self.hook.platform.value} webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The platform shows this comment now: a new one, an edited one, or one that it restored.

    `by_staff` is an edit by somebody who may moderate there and is not the author.
    """

    new: NewComment
    recovers: bool = False
    by_staff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """The platform shows this comment no more, since `at`: now where it does not tell."""

    site_comment_id: str
    at: datetime | None = None


Event = Shown | Deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """How one platform's requests are checked and answered.

    `verify` raises `NotAuthenticatedError` unless the platform sent the request; None is for the
    one whose senders are anybody's browsers. `serve` answers a verified request.
    """

    verify: Callable[[Received], None] | None
    serve: Callable[[Received], ResponseReturnValue]
    max_body_bytes: int = MAX_BODY_BYTES


Read = Callable[[Received], Sequence[Event]]
"""Reads a request's events; none for what has nothing to do with comments. Raises
`UnreadableRequestError` or `InvalidInputError` for what is not the platform's own format."""


# While a secret is rotated there are two; nobody needs more than a handful.
_MAX_SIGNATURES = 16
_MAX_HEADER_CHARS = 4_096
_HEX_PREFIX = "sha256="
_UNIX_SECONDS = re.compile(r"[0-9]{1,11}")
# As Standard Webhooks suggest: clocks differ, and a retry carries a timestamp of its own.
_TOLERANCE_SECONDS = 300


def require_hex_signature(given: str | None, body: bytes, secret: str, *, header: str) -> None:
    """Return if one of the comma-separated `sha256=<hex>` signs the body with the secret.

    Raises `NotAuthenticatedError` otherwise: without a signature, with SHA-1 alone, with a wrong
    one.
    """
    entries = _entries(given, ",", header)
    signatures = [e[len(_HEX_PREFIX) :] for e in entries if e.startswith(_HEX_PREFIX)]
    if not signatures:
        msg = f"{header} has no sha256= signature; SHA-1 is not accepted."
        raise NotAuthenticatedError(msg)
    _require_one(signatures, hmac.new(_bytes(secret), body, hashlib.sha256).hexdigest(), header)


def signed_in(header: str) -> Callable[[Received], None]:
    """Return `Adapter.verify` for a platform whose `sha256=` signature stands in this header."""
    return lambda received: require_hex_signature(
        request.headers.get(header), received.body, received.hook.secret, header=header
    )


def require_standard_signature(
    headers: Mapping[str, str] | Headers, body: bytes, secret: str, *, now: datetime
) -> None:
    """Return if the request is a Standard Webhook of now, signed with the `whsec_` secret.

    Raises `NotAuthenticatedError` for a missing header, a timestamp more than five minutes off,
    or without a matching `v1` signature.
    """
    message_id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp")
    if not message_id or not timestamp:
        raise NotAuthenticatedError("webhook-id or webhook-timestamp is missing.")
    if not _UNIX_SECONDS.fullmatch(timestamp):
        raise NotAuthenticatedError("webhook-timestamp is not in Unix seconds.")
    if abs(now.timestamp() - int(timestamp)) > _TOLERANCE_SECONDS:
        raise NotAuthenticatedError("webhook-timestamp is more than five minutes off.")
    entries = _entries(headers.get("webhook-signature"), None, "webhook-signature")
    signatures = [e.removeprefix("v1,") for e in entries if e.startswith("v1,")]
    signed = b".".join((_bytes(message_id), _bytes(timestamp), body))
    # `hooks add` takes no other form of a secret.
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    _require_one(signatures, base64.b64encode(digest).decode(), "webhook-signature")


def _entries(given: str | None, separator: str | None, header: str) -> list[str]:
    if not given:
        msg = f"{header} is missing: the request is not signed."
        raise NotAuthenticatedError(msg)
    entries = given[:_MAX_HEADER_CHARS].split(separator)[:_MAX_SIGNATURES]
    return [entry.strip() for entry in entries]


def _require_one(signatures: list[str], expected: str, header: str) -> None:
    # All are compared, so that the time taken says nothing about which one came close.
    matches = [hmac.compare_digest(_bytes(one), expected.encode()) for one in signatures]
    if not any(matches):
        msg = f"{header} does not fit the body and the secret of this hook."
        raise NotAuthenticatedError(msg)


def _bytes(text: str) -> bytes:
    # Header values arrive as Latin-1; what else is in them fits no signature anyway.
    return text.encode("utf-8", "surrogatepass")


# GitHub lets people send a delivery again for three days.
REMEMBERED = timedelta(days=7)


def serve_events(read: Read, *, id_header: str) -> Callable[[Received], ResponseReturnValue]:
    """Return what answers a platform that tells and does not ask; `id_header` names a delivery.

    2xx for all that was understood, also where nothing follows from it: platforms switch hooks
    off that answer otherwise.
    """

    def serve(received: Received) -> ResponseReturnValue:
        # The ids of most platforms come in headers that nobody signs: the signed body counts too.
        body = f"body:{hashlib.sha256(received.body).hexdigest()}"
        delivery_id = request.headers.get(id_header)
        names = [body, f"id:{delivery_id}"] if delivery_id else [body]
        now = services.clock()
        since = now - REMEMBERED
        has_seen = partial(services.inbound.has_seen, received.hook.id, since=since)
        if delivery_id and has_seen(names[1]):
            return {"status": "duplicate"}
        events = read(received)
        # A comment that was brought back, or edited back, is told in the words it first had.
        led_to = _states(events, received, body)
        if has_seen(body) and all(map(has_seen, led_to)):
            return {"status": "duplicate"}
        for event in events:
            _carry_out(event, received)
        # Only now: a delivery that was cut short is sent again, and carrying out twice is harmless.
        for name in (*names, *_states(events, received, body)):
            services.inbound.remember(received.hook.id, name, at=now, forget=since)
        kinds = ",".join(type(event).__name__.lower() for event in events[:20])
        platform = received.hook.platform.value
        extra = {"hook": received.hook.id, "platform": platform, "events": kinds or "none"}
        log.info("webhook received", extra=extra)
        return ({"status": "accepted"}, 202) if events else {"status": "ignored"}

    return serve


def is_late(comment: Comment) -> bool:
    """Return True if a delivery is older than the memory of deliveries that were processed."""
    return comment.written_at is not None and comment.written_at < services.clock() - REMEMBERED


def _states(events: Sequence[Event], received: Received, body: str) -> list[str]:
    """Return a name of this body having led to where each comment stands; unknown ones left out."""
    own_ids = [
        event.new.comment.site_comment_id if isinstance(event, Shown) else event.site_comment_id
        for event in events
    ]
    states = [find_state(received.site.id, one, services) for one in own_ids if one]
    return [f"{body}:{state}" for state in states if state]


def _carry_out(event: Event, received: Received) -> None:
    by = received.by
    if isinstance(event, Shown):
        submit_version(event.new, services, by=by, recovers=event.recovers, by_staff=event.by_staff)
    else:
        withdraw_versions(
            received.site.id, event.site_comment_id, services, by=by, deleted_at=event.at
        )
