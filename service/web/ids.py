"""Recognises what can be one of our ids, so that no store is asked for anything else."""

from __future__ import annotations

import re

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_id(given: str) -> bool:
    """Say whether a string has the form of our ids."""
    return _ID.fullmatch(given) is not None
