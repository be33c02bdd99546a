"""Makes an operation of a view: its parameters say what is read, its answer is a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from inspect import getdoc
from typing import Any, get_args, get_type_hints

from flask import Response, make_response
from pydantic import BaseModel

from service.web.edge.answers import Answer
from service.web.edge.reading import JSON, read_arguments

SINGLE_BODY_BYTES = 256 * 1024
_OPERATION = "operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What the OpenAPI document says of a view; every one of the `statuses` has the same answer."""

    tag: str
    summary: str
    description: str
    answer: type[Answer]
    statuses: tuple[int, ...]
    query: type[BaseModel] | None
    body: type[BaseModel] | None
    media: tuple[str, ...]
    takes_idempotency_key: bool
    problems: tuple[int, ...]


def operation(
    *,
    tag: str,
    statuses: tuple[int, ...] = (HTTPStatus.OK,),
    problems: tuple[int, ...] = (),
    query: type[BaseModel] | None = None,
    body: type[BaseModel] | None = None,
    media: tuple[str, ...] = (JSON,),
    max_body_bytes: int = SINGLE_BODY_BYTES,
) -> Callable[[Callable[..., Any]], Callable[..., Response]]:
    """Let a view take what was read, answer with a model, and be described.

    Of the request a view takes what its parameters name: `query` and `body` by their models,
    `idempotency_key`, `raw` for the body as it came. It returns the answer, alone or with a status
    or headers, as Flask takes them; the first of the `statuses` is the usual one. Its docstring is
    the description. `query` and `body` here only describe what the view reads itself.
    """

    def decorate(view: Callable[..., Any]) -> Callable[..., Response]:
        hints = get_type_hints(view)
        summary, _, description = (getdoc(view) or "").partition("\n\n")
        described = Operation(
            tag=tag,
            summary=summary.removesuffix("."),
            description=" ".join(description.split()),
            answer=next(iter(get_args(hints["return"])), hints["return"]),
            statuses=statuses,
            query=query or hints.get("query"),
            body=body or hints.get("body"),
            media=media,
            takes_idempotency_key="idempotency_key" in hints,
            problems=problems,
        )

        @wraps(view)
        def serve(**path: str) -> Response:
            arguments = read_arguments(hints, media=media, max_body_bytes=max_body_bytes)
            returned = view(**path, **arguments)
            answer, *others = returned if isinstance(returned, tuple) else (returned,)
            response = Response(answer.model_dump_json(), status=statuses[0], content_type=JSON)
            return make_response(response, *others)

        setattr(serve, _OPERATION, described)
        return serve

    return decorate


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return what a view is described by, None for one that is no operation."""
    described: Operation | None = getattr(view, _OPERATION, None)
    return described
