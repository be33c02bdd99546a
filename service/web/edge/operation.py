"""The `operation` decorator: validates a view's arguments and serializes its response."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from http import HTTPStatus
from inspect import getdoc
from typing import Any, TypeVar, cast, get_args, get_type_hints

from flask import Response, make_response, request
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from service.domain.comment import MAX_TEXT_BYTES
from service.domain.errors import InvalidInputError, Problem
from service.web.edge import strict_json
from service.web.edge.errors import Answer, EdgeError, TooLargeError
from service.web.edge.strict_json import Json

T = TypeVar("T", bound=BaseModel)

JSON = "application/json"
SINGLE_BODY_BYTES = 256 * 1024
MAX_KEY_CHARS = 200
TEXT_TOO_LARGE = "text_too_large"
"""The pydantic error type for a text over its limit."""

IDEMPOTENCY_KEY = "Idempotency-Key"
_IDEMPOTENCY_KEY = re.compile(rf"[\x21-\x7e](?:[\x20-\x7e]{{0,{MAX_KEY_CHARS - 2}}}[\x21-\x7e])?")

# Problem and remedy by pydantic's error type. The placeholders' values are the schema's, never the
# request's.
_ERROR_MESSAGES: Mapping[str, tuple[str, str]] = {
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
    "ahead": ("is in the future", "send when it was {done}, or null"),
    "web_address": ("is not a web address", "send an http or https address, or null"),
    "version": (
        "ends in @ and a number, as later versions of a comment do here",
        "send an id with another ending",
    ),
    "unawaited": ("is false where nobody waits for the verdict", "submit it alone, with wait"),
    "email": ("is not an e-mail address", "send one address with an @, or null"),
    "string_pattern_mismatch": (
        "is not a BCP 47 language tag",
        "send a tag such as en or pt-BR, or null",
    ),
    TEXT_TOO_LARGE: ("has {size} bytes of UTF-8", f"send at most {MAX_TEXT_BYTES} bytes"),
}


def read_query(model: type[T]) -> T:
    """Return the request's query. Raises `InvalidInputError` with all problems."""
    return validate(model, _query())


def validate(model: type[T], value: Json) -> T:
    """Return the model. Raises `InvalidInputError` or `TooLargeError` with all problems."""
    problems: list[Problem] = []
    parsed = _validate(model, value, problems)
    _refuse(problems)
    return cast("T", parsed)  # if it is None, `_refuse` raised


def _refuse(problems: Sequence[Problem]) -> None:
    if any(isinstance(p, _TooLarge) for p in problems):
        raise TooLargeError(f"A text has more than {MAX_TEXT_BYTES} bytes of UTF-8.", problems)
    if problems:
        raise InvalidInputError(problems)


class _TooLarge(Problem):
    """A problem with status 413 instead of 422."""


def read_bounded(max_bytes: int) -> bytes:
    """Return the request's body. Raises `TooLargeError`."""
    request.max_content_length = max_bytes
    if (request.content_length or 0) > max_bytes:
        raise TooLargeError(f"The body has more than {max_bytes} bytes.")
    return request.get_data(cache=False)


def _query() -> Json:
    return strict_json.as_object(list(request.args.items(multi=True)))


def _validate(model: type[T], value: Json, problems: list[Problem]) -> T | None:
    """Return the model, or None if it has problems, which are added to `problems`."""
    cleaned, found = strict_json.clean(value)
    problems.extend(found)
    try:
        return model.model_validate(cleaned)
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False)
        problems.extend(_problem(detail) for detail in details)
        return None


def _problem(detail: ErrorDetails) -> Problem:
    path = ""
    for part in detail["loc"]:
        path = strict_json.join(path, part)
    unknown = "is not valid", "see the API's description"
    wrong, remedy = _ERROR_MESSAGES.get(detail["type"], unknown)
    context = {k: v for k, v in detail.get("ctx", {}).items() if isinstance(v, str | int | float)}
    kind = _TooLarge if detail["type"] == TEXT_TOO_LARGE else Problem
    return kind(
        field=path or "body", problem=wrong.format(**context), remedy=remedy.format(**context)
    )


@dataclass(frozen=True, kw_only=True)
class operation:  # noqa: N801  # named as a decorator
    """Validates a view's arguments, serializes its response, and adds it to the OpenAPI document.

    The view's parameters select its arguments: `query` and `body` by their models,
    `idempotency_key`, and `raw` for the unparsed body. The view returns a response model, alone or
    with a status or headers, as in Flask; the default status is the first of `statuses`. Its
    docstring is the description. The decorator's `query` and `body` only describe what the view
    parses itself.
    """

    tag: str
    statuses: tuple[int, ...] = (HTTPStatus.OK,)
    problems: tuple[int, ...] = ()
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    media: tuple[str, ...] = (JSON,)
    max_body_bytes: int = SINGLE_BODY_BYTES
    # Set for each view.
    summary: str = ""
    description: str = ""
    answer: type[Answer] = Answer
    takes_idempotency_key: bool = False

    def __call__(self, view: Callable[..., Any]) -> Callable[..., Response]:
        hints = get_type_hints(view)
        summary, _, description = (getdoc(view) or "").partition("\n\n")

        @wraps(view)
        def serve(**path: str) -> Response:
            returned = view(**path, **self._read_arguments(hints))
            answer, *others = returned if isinstance(returned, tuple) else (returned,)
            body = answer.model_dump_json()
            response = Response(body, status=self.statuses[0], content_type=JSON)
            return make_response(response, *others)

        serve.operation = replace(  # type: ignore[attr-defined]  # read by `operation_of`
            self,
            summary=summary.removesuffix("."),
            description=" ".join(description.split()),
            answer=next(iter(get_args(hints["return"])), hints["return"]),
            query=self.query or hints.get("query"),
            body=self.body or hints.get("body"),
            takes_idempotency_key="idempotency_key" in hints,
        )
        return serve

    def _read_arguments(self, wanted: Mapping[str, Any]) -> dict[str, object]:
        """Return the view's arguments by the names of its parameters.

        Raises `EdgeError` for an unreadable body, otherwise `InvalidInputError` with all problems.
        """
        problems: list[Problem] = []
        arguments: dict[str, object] = {}
        raw = b""
        if wanted.keys() & {"body", "raw"}:
            if request.mimetype not in self.media:
                msg = f"Send the body as {' or '.join(self.media)}, in UTF-8."
                raise EdgeError(msg, status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            raw = read_bounded(self.max_body_bytes)
        if "query" in wanted:
            arguments["query"] = _validate(wanted["query"], _query(), problems)
        if "idempotency_key" in wanted:
            key = arguments["idempotency_key"] = request.headers.get(IDEMPOTENCY_KEY)
            if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
                wrong = "is empty, too long or not printable ASCII"
                remedy = f"send 1 to {MAX_KEY_CHARS} printable ASCII characters"
                problems.append(Problem(IDEMPOTENCY_KEY, wrong, remedy))
        if "body" in wanted:
            arguments["body"] = _validate(wanted["body"], strict_json.parse(raw), problems)
        if "raw" in wanted:
            arguments["raw"] = raw
        _refuse(problems)
        return arguments


def operation_of(view: Callable[..., Any]) -> operation | None:
    described: operation | None = getattr(view, "operation", None)
    return described
