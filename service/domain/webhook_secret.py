"""Makes and reads the secrets of Standard Webhooks: `whsec_` and the base64 of a key."""

import base64
import hashlib

_PREFIX = "whsec_"
_MIN_BYTES, _MAX_BYTES = 24, 64


def make_webhook_secret(random: str) -> str:
    """Return a secret whose key is made of the random text."""
    key = hashlib.sha256(random.encode()).digest()
    return _PREFIX + base64.b64encode(key).decode("ascii")


def webhook_key(secret: str) -> bytes:
    """Return a secret's key. Raises `ValueError` with the remedy."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not secret.startswith(_PREFIX) or not _MIN_BYTES <= len(key) <= _MAX_BYTES:
        raise ValueError(f"give {_PREFIX} and the base64 of {_MIN_BYTES} to {_MAX_BYTES} bytes")
    return key
