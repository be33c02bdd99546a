"""Parts the body of a batch into comments that are read one by one."""

from __future__ import annotations

from itertools import islice

from service.domain.errors import InvalidInputError, Problem
from service.web.edge import strict_json
from service.web.edge.errors import EdgeError, TooLargeError, UnreadableRequestError
from service.web.edge.strict_json import Json

NDJSON = "application/x-ndjson"

# A body of 16 MiB can have a million wrong names; more than an answer lists are not looked at.
_MOST_NAMES = 100

Item = Json | EdgeError
"""One comment as it came, or why it cannot be read."""


def read_items(raw: bytes, *, lines: bool, max_items: int, max_line_bytes: int) -> list[Item]:
    """Return the batch's items in order.

    A line that cannot be read is an item too. Raises `UnreadableRequestError`,
    `InvalidInputError` or `TooLargeError` for a body that is no batch at all.
    """
    items = _read_lines(raw, max_items, max_line_bytes) if lines else _read_object(raw)
    if len(items) > max_items:
        raise _too_many(max_items)
    return items


def _read_lines(raw: bytes, max_items: int, max_line_bytes: int) -> list[Item]:
    filled = [line for line in raw.split(b"\n") if line.strip()]
    if len(filled) > max_items:
        raise _too_many(max_items)
    return [_read_line(line, max_line_bytes) for line in filled]


def _read_line(line: bytes, max_bytes: int) -> Item:
    if len(line) > max_bytes:
        msg = f"The line has more than {max_bytes} bytes."
        return TooLargeError(msg)
    try:
        return strict_json.parse(line)
    except UnreadableRequestError as error:
        return error


def _read_object(raw: bytes) -> list[Item]:
    body = strict_json.parse(raw)
    if not isinstance(body, dict):
        problem = Problem(
            field="body", problem="is not an object", remedy='send {"comments": […]}, or NDJSON'
        )
        raise InvalidInputError([problem])
    problems = [
        Problem(field=name, problem="occurs more than once", remedy="send it once")
        for name in strict_json.repeated_names(body)[:_MOST_NAMES]
    ]
    problems += [
        Problem(
            field=strict_json.join("", name),
            problem="is not a known field",
            remedy="leave it out or check its spelling",
        )
        for name in islice((name for name in body if name != "comments"), _MOST_NAMES)
    ]
    comments = body.get("comments")
    if not isinstance(comments, list):
        wrong = "is not a list" if "comments" in body else "is missing"
        problems.append(
            Problem(field="comments", problem=wrong, remedy="send a JSON array of comments")
        )
    if problems or not isinstance(comments, list):
        raise InvalidInputError(problems)
    return list(comments)


def _too_many(max_items: int) -> TooLargeError:
    msg = f"The batch has more than {max_items} comments. Send several batches."
    return TooLargeError(msg)
