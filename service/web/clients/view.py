"""Lays an OpenAPI document out for those who write clients: types and operations, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from service.web.api.openapi import Document

_REF = "#/components/schemas/"
_PREFIX = "/v1/"
_IN_PATH = re.compile(r"\{(\w+)\}")
_JSON = "application/json"
_KEY = "Idempotency-Key"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """A field of a type, or a parameter of a query."""

    name: str
    schema: Document
    required: bool
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeView:
    """A type of an object, or of one of several words: then it has `words` and no fields."""

    name: str
    description: str
    fields: tuple[FieldView, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationView:
    """An operation. `ids` are the parameters in its path; `takes_key`: repeats may have a key."""

    name: str
    method: str
    path: str
    ids: tuple[str, ...]
    query: tuple[FieldView, ...]
    body: str | None
    takes_key: bool
    answer: str
    summary: str
    description: str

    @property
    def waits(self) -> bool:
        """Say whether the service can be asked to wait for something."""
        return any(field.name == "wait" for field in self.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientView:
    """All that a client has: types before operations, each in the document's order."""

    words: tuple[TypeView, ...]
    objects: tuple[TypeView, ...]
    operations: tuple[OperationView, ...]
    message: str


def view_clients(document: Document) -> ClientView:
    """Return the operations that need a site key, what they take and answer, and the callback."""
    operations = tuple(
        _operation(path, method, operation)
        for path, methods in document["paths"].items()
        if path.startswith(_PREFIX)
        for method, operation in methods.items()
    )
    (callback,) = document["webhooks"].values()
    message = _name(callback["post"]["requestBody"]["content"][_JSON]["schema"])
    schemas = document["components"]["schemas"]
    roots = {message, "ProblemField"}
    for operation in operations:
        roots |= {operation.answer, *([operation.body] if operation.body else [])}
        roots |= {name for field in operation.query for name in _references(field.schema)}
    wanted = _reachable(roots, schemas)
    types = [_type(name, schema) for name, schema in schemas.items() if name in wanted]
    return ClientView(
        words=tuple(one for one in types if one.words),
        objects=tuple(one for one in types if not one.words),
        operations=operations,
        message=message,
    )


def _operation(path: str, method: str, operation: Document) -> OperationView:
    parameters = operation["parameters"]
    body = operation.get("requestBody", {}).get("content", {}).get(_JSON)
    answered = next(
        answer for status, answer in operation["responses"].items() if status.startswith("2")
    )
    return OperationView(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        ids=tuple(_IN_PATH.findall(path)),
        query=tuple(
            FieldView(
                name=one["name"],
                schema=one["schema"],
                required=False,
                description=one.get("description", ""),
            )
            for one in parameters
            if one["in"] == "query"
        ),
        body=_name(body["schema"]) if body else None,
        takes_key=any(one["name"] == _KEY for one in parameters),
        answer=_name(answered["content"][_JSON]["schema"]),
        summary=operation["summary"],
        description=operation.get("description", ""),
    )


def _type(name: str, schema: Document) -> TypeView:
    required = set(schema.get("required", ()))
    return TypeView(
        name=name,
        description=schema.get("description", ""),
        words=tuple(schema.get("enum", ())),
        fields=tuple(
            FieldView(
                name=field,
                schema=described,
                required=field in required,
                description=described.get("description", ""),
            )
            for field, described in schema.get("properties", {}).items()
        ),
    )


def _name(schema: Document) -> str:
    return str(schema["$ref"]).removeprefix(_REF)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield _name(dict(value))
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


def _reachable(roots: set[str], schemas: Document) -> set[str]:
    found: set[str] = set()
    ahead = set(roots)
    while ahead:
        name = ahead.pop()
        found.add(name)
        ahead |= set(_references(schemas[name])) - found
    return found
