"""Recognises our ids in paths, so that no store is asked for anything else."""

from __future__ import annotations

from werkzeug.routing import BaseConverter

ID_PATTERN = "[A-Za-z0-9_-]{1,64}"


class IdConverter(BaseConverter):
    """Matches what can be one of our ids, and none of the words that are paths themselves."""

    regex = f"(?!batch$){ID_PATTERN}"
