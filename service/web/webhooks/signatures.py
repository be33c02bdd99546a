"""Checks who signed a request: over the bytes as they came, in constant time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from datetime import datetime

from flask import request
from werkzeug.datastructures import Headers

from service.domain.errors import NotAuthenticatedError
from service.web.webhooks.received import Received

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
