"""Reads a request's query, headers and body, naming everything wrong with them at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from flask import request
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from service.domain.comment import MAX_TEXT_BYTES
from service.domain.errors import InvalidInputError, Problem
from service.web.edge import strict_json
from service.web.edge.errors import TooLargeError, UnreadableRequestError, WrongMediaTypeError
from service.web.edge.strict_json import Json

T = TypeVar("T", bound=BaseModel)

MAX_KEY_CHARS = 200
TEXT_TOO_LARGE = "text_too_large"
"""The type of error by which a model says that a text is over its limit."""

IDEMPOTENCY_KEY = "Idempotency-Key"
_IDEMPOTENCY_KEY = re.compile(rf"[\x21-\x7e](?:[\x20-\x7e]{{0,{MAX_KEY_CHARS - 2}}}[\x21-\x7e])?")

# By pydantic's type of error: what is wrong, what to do. Values from the error's context are ours
# or the schema's, never the request's.
_IN_WORDS: Mapping[str, tuple[str, str]] = {
    "missing": ("is missing", "add it"),
    "extra_forbidden": ("is not a known field", "leave it out or check its spelling"),
    "string_type": ("is not a string", "send a string"),
    "string_too_short": ("is too short", "send at least {min_length} character(s)"),
    "string_too_long": ("is too long", "send at most {max_length} characters"),
    "int_type": ("is not an integer", "send an integer"),
    "int_parsing": ("is not an integer", "send an integer"),
    "float_type": ("is not a number", "send a number"),
    "float_parsing": ("is not a number", "send a number"),
    "finite_number": ("is not a finite number", "send a finite number"),
    "bool_type": ("is neither true nor false", "send true or false"),
    "greater_than_equal": ("is too small", "send at least {ge}"),
    "less_than_equal": ("is too large", "send at most {le}"),
    "model_type": ("is not an object", "send a JSON object"),
    "model_attributes_type": ("is not an object", "send a JSON object"),
    "list_type": ("is not a list", "send a JSON array"),
    "tuple_type": ("is not a list", "send a JSON array"),
    "too_short": ("has too few items", "send at least {min_length}"),
    "too_long": ("has too many items", "send at most {max_length}"),
    "enum": ("is none of the known values", "send {expected}"),
    "moment": (
        "is not a date and time with an offset",
        "write it by RFC 3339, such as 2026-03-01T12:00:00Z",
    ),
    "address": ("is not an IP address", "send an IPv4 or IPv6 address, or null"),
    "web_address": ("is not a web address", "send an http or https address, or null"),
    "email": ("is not an e-mail address", "send one with an @, or null"),
    "string_pattern_mismatch": (
        "is not a BCP 47 language tag",
        "send a tag such as en or pt-BR, or null",
    ),
    TEXT_TOO_LARGE: (
        "has {size} bytes of UTF-8",
        f"send at most {MAX_TEXT_BYTES} bytes",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a request said, validated; `raw` is the body as it came."""

    query: BaseModel | None = None
    body: BaseModel | None = None
    raw: bytes = field(default=b"", repr=False)
    media_type: str = ""
    idempotency_key: str | None = None


def read_request(
    *,
    query: type[BaseModel] | None,
    body: type[BaseModel] | None,
    media: Sequence[str],
    has_body: bool,
    max_body_bytes: int,
    takes_idempotency_key: bool,
) -> Reading:
    """Return the request's query, body and key.

    Raises `WrongMediaTypeError`, `TooLargeError` or `UnreadableRequestError` for a body that
    cannot be read at all, otherwise `InvalidInputError` with everything that is wrong.
    """
    raw = _read_raw(media, max_body_bytes) if has_body else b""
    problems: list[Problem] = []
    parsed_query = _validate(query, *_query_values(), problems) if query else None
    key = _read_key(problems) if takes_idempotency_key else None
    parsed_body = None
    if body is not None:
        parsed_body = _validate(body, *strict_json.clean(strict_json.parse(raw)), problems)
    refuse(problems)
    return Reading(
        query=parsed_query,
        body=parsed_body,
        raw=raw,
        media_type=request.mimetype,
        idempotency_key=key,
    )


def validate(model: type[T], value: Json) -> T:
    """Return the model. Raises `InvalidInputError` or `TooLargeError` with all problems."""
    problems: list[Problem] = []
    parsed = _validate(model, *strict_json.clean(value), problems)
    refuse(problems)
    if parsed is None:
        raise UnreadableRequestError("The body cannot be read.")
    return parsed


def refuse(problems: Sequence[Problem]) -> None:
    """Raise what fits the problems, if there are any."""
    if any(isinstance(p, _TooLarge) for p in problems):
        msg = f"A text has more than {MAX_TEXT_BYTES} bytes of UTF-8."
        raise TooLargeError(msg, problems)
    if problems:
        raise InvalidInputError(problems)


class _TooLarge(Problem):
    """A problem for which the status is 413 rather than 422."""


def _read_raw(media: Sequence[str], max_body_bytes: int) -> bytes:
    if request.mimetype not in media:
        msg = f"Send the body as {' or '.join(media)}, in UTF-8."
        raise WrongMediaTypeError(msg)
    return read_bounded(max_body_bytes)


def read_bounded(max_bytes: int) -> bytes:
    """Return the request's body. Raises `TooLargeError`."""
    request.max_content_length = max_bytes
    if (request.content_length or 0) > max_bytes:
        msg = f"The body has more than {max_bytes} bytes."
        raise TooLargeError(msg)
    return request.get_data(cache=False)


def _query_values() -> tuple[dict[str, Json], list[Problem]]:
    values: dict[str, Json] = {}
    problems: list[Problem] = []
    for name, given in request.args.lists():
        if len(given) > 1:
            problems.append(
                Problem(
                    field=strict_json.join("", name),
                    problem="occurs more than once",
                    remedy="send it once",
                )
            )
        values[name] = given[0]
    cleaned, _ = strict_json.clean(values)
    return (cleaned if isinstance(cleaned, dict) else {}), problems


def _read_key(problems: list[Problem]) -> str | None:
    key = request.headers.get(IDEMPOTENCY_KEY)
    if key is None or _IDEMPOTENCY_KEY.fullmatch(key):
        return key
    problems.append(
        Problem(
            field=IDEMPOTENCY_KEY,
            problem="is empty, too long or not printable ASCII",
            remedy=f"send 1 to {MAX_KEY_CHARS} printable ASCII characters",
        )
    )
    return None


def _validate(
    model: type[T], value: Json, found: list[Problem], problems: list[Problem]
) -> T | None:
    problems.extend(found)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)
        problems.extend(_problem(detail) for detail in details)
        return None


def _problem(detail: ErrorDetails) -> Problem:
    path = ""
    for part in detail["loc"]:
        path = strict_json.join(path, part)
    wrong, remedy = _IN_WORDS.get(detail["type"], ("is not valid", "see the API's description"))
    context = {k: v for k, v in detail.get("ctx", {}).items() if isinstance(v, str | int | float)}
    kind = _TooLarge if detail["type"] == TEXT_TOO_LARGE else Problem
    return kind(
        field=path or "body", problem=wrong.format(**context), remedy=remedy.format(**context)
    )
