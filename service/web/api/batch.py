"""Parts the body of a batch into comments that are read one by one."""

from __future__ import annotations

from service.web.api.schemas import MAX_BATCH, BatchRequest
from service.web.edge import strict_json
from service.web.edge.errors import EdgeError, TooLargeError, UnreadableRequestError
from service.web.edge.operation import SINGLE_BODY_BYTES
from service.web.edge.reading import validate
from service.web.edge.strict_json import Json

NDJSON = "application/x-ndjson"

# A body of 16 MiB can have a million wrong names; more than an answer lists are not looked at.
_MOST_NAMES = 100

Item = Json | EdgeError
"""One comment as it came, or why it cannot be read."""


def read_items(raw: bytes, *, lines: bool) -> list[Item]:
    """Return the batch's items in order.

    A line that cannot be read is an item too. Raises `UnreadableRequestError`,
    `InvalidInputError` or `TooLargeError` for a body that is no batch at all.
    """
    found: list[bytes | Json] = [*raw.split(b"\n")] if lines else _read_object(raw)
    parts = [part for part in found if not isinstance(part, bytes) or part.strip()]
    if len(parts) > MAX_BATCH:
        msg = f"The batch has more than {MAX_BATCH} comments. Send several batches."
        raise TooLargeError(msg)
    return [_read_line(part) if isinstance(part, bytes) else part for part in parts]


def _read_object(raw: bytes) -> list[bytes | Json]:
    body = strict_json.parse(raw)
    comments: list[bytes | Json] = []
    if isinstance(body, dict):
        for name in list(body)[_MOST_NAMES:]:
            del body[name]
        given = body.get("comments")
        if isinstance(given, list):
            # What is wrong with a comment refuses that comment alone.
            comments, body["comments"] = [*given], []
    validate(BatchRequest, body)
    return comments


def _read_line(line: bytes) -> Item:
    if len(line) > SINGLE_BODY_BYTES:
        msg = f"The line has more than {SINGLE_BODY_BYTES} bytes."
        return TooLargeError(msg)
    try:
        return strict_json.parse(line)
    except UnreadableRequestError as error:
        return error
