"""Makes identifiers that sort by time and cannot be guessed."""

import secrets
import time

# Crockford's alphabet sorts like its values and has no digits that look like letters.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80
_CHARS = 26


def new_id(prefix: str) -> str:
    """Return `prefix_` and 26 characters: the milliseconds since 1970, then 80 random bits."""
    value = time.time_ns() // 1_000_000 << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    digits = (_ALPHABET[value >> 5 * place & 31] for place in reversed(range(_CHARS)))
    return f"{prefix}_{''.join(digits)}"
