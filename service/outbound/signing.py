"""Signs messages as Standard Webhooks 1.0.0 has it."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence

_PREFIX = "whsec_"
_MIN_BYTES, _MAX_BYTES = 24, 64


def sign(message_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> str:
    """Return the value of `webhook-signature`: one `v1` signature by each secret.

    Raises `ValueError` for a secret that is none.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    digests = (hmac.digest(_key(secret), signed, "sha256") for secret in secrets)
    return " ".join(f"v1,{base64.b64encode(digest).decode('ascii')}" for digest in digests)


def _key(secret: str) -> bytes:
    """Return the bytes that a secret stands for: the key is those, not the text."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith(_PREFIX) or not _MIN_BYTES <= len(key) <= _MAX_BYTES:
        msg = f"a secret is {_PREFIX} and the base64 of {_MIN_BYTES} to {_MAX_BYTES} bytes"
        raise ValueError(msg)
    return key
