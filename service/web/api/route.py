"""Declares API routes: one declaration reads the request, answers it and describes both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar

from flask import Blueprint, Response
from pydantic import BaseModel

from service.domain.site import Site
from service.web.edge.answers import Answer
from service.web.edge.auth import current_site
from service.web.edge.reading import Reading, read_request
from service.web.edge.static_files import script_integrity

T = TypeVar("T", bound=BaseModel)

SINGLE_BODY_BYTES = 256 * 1024
JSON = "application/json"
FORM_SCRIPT_HEADER = "Slopsieve-Form-Script"
"""By this header of every answer a site's pages know the form's script of a new version at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that was authenticated and read: what a view works with."""

    site: Site
    path: Mapping[str, str]
    reading: Reading

    def query(self, model: type[T]) -> T:
        """Return the validated query."""
        return _as(self.reading.query, model)

    def body(self, model: type[T]) -> T:
        """Return the validated body."""
        return _as(self.reading.body, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a view answers."""

    answer: Answer
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


View = Callable[[Call], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation of the API: where it is, what it takes, what it answers, what can go wrong.

    `path` is in Flask's notation. With `reads_body_itself` the view gets the raw body and `body`
    only describes it.
    """

    method: str
    path: str
    name: str
    tag: str
    summary: str
    view: View
    answer: type[Answer]
    answered: str
    description: str = ""
    status: int = HTTPStatus.OK
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    media: tuple[str, ...] = (JSON,)
    max_body_bytes: int = SINGLE_BODY_BYTES
    reads_body_itself: bool = False
    takes_idempotency_key: bool = False
    problems: tuple[int, ...] = ()


def register_route(blueprint: Blueprint, route: Route) -> None:
    """Let the blueprint serve a route."""

    def serve(**path: str) -> Response:
        reading = read_request(
            query=route.query,
            body=None if route.reads_body_itself else route.body,
            media=route.media,
            has_body=route.body is not None,
            max_body_bytes=route.max_body_bytes,
            takes_idempotency_key=route.takes_idempotency_key,
        )
        reply = route.view(Call(site=current_site(), path=path, reading=reading))
        return Response(
            reply.answer.model_dump_json(),
            status=reply.status,
            content_type=JSON,
            headers={FORM_SCRIPT_HEADER: script_integrity(), **reply.headers},
        )

    blueprint.add_url_rule(
        route.path,
        endpoint=route.name,
        view_func=serve,
        methods=[route.method],
        provide_automatic_options=False,
    )


def _as(value: BaseModel | None, model: type[T]) -> T:
    if not isinstance(value, model):
        msg = f"this route does not read {model.__name__}"
        raise TypeError(msg)
    return value
