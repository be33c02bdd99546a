"""Recognises what can be one of our ids, so that no store is asked for anything else."""

from __future__ import annotations

import re

from werkzeug.routing import BaseConverter

ID_PATTERN = "[A-Za-z0-9_-]{1,64}"
_ID = re.compile(ID_PATTERN)


class IdConverter(BaseConverter):
    """Matches what can be one of our ids, and not the word that is a path itself."""

    regex = f"(?!batch$){ID_PATTERN}"


def is_id(given: str) -> bool:
    """Return True if a string has the form of our ids."""
    return _ID.fullmatch(given) is not None
