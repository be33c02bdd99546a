"""Reads the objects of a JSON file one by one, however long the file is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from service.commands.sources.opened import OpenedFile

_CHUNK_CHARS = 1 << 16
_MAX_OBJECT_CHARS = 8 << 20
# Arrays, arrays of arrays, arrays after arrays, and lines: what stands between objects is the same.
_BETWEEN = re.compile(r"[\s\[\],]*+")


class NoObjectsError(Exception):
    """What is read is no JSON of objects, or one of them is longer than any comment."""


def json_objects(file: OpenedFile) -> Iterator[dict[str, Any]]:
    """Yield the outermost objects in the order of the file. Raises `NoObjectsError`."""
    decoder = json.JSONDecoder()
    text, buffer, at = file.text(), "", 0
    while True:
        at = _end_of(_BETWEEN, buffer, at)
        wanted = _CHUNK_CHARS
        if at < len(buffer):
            try:
                found, at = decoder.raw_decode(buffer, at)
            except (ValueError, RecursionError):
                # It may go on; each time twice as much is read, so the work stays in proportion.
                wanted = max(_CHUNK_CHARS, len(buffer) - at)
                if len(buffer) - at > _MAX_OBJECT_CHARS:
                    raise NoObjectsError from None
            else:
                if not isinstance(found, dict):
                    raise NoObjectsError
                yield found
                continue
        more = text.read(wanted)
        if not more and at < len(buffer):
            raise NoObjectsError
        if not more:
            return
        buffer, at = buffer[at:] + more, 0


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
