"""Lays an OpenAPI document out for a page that people read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from service.web.api.openapi import Document

_REF = "#/components/"
_FORMATS = {"date-time": "date and time", "ipv4": "IPv4 address", "ipv6": "IPv6 address"}
_BASE = "https://slopsieve.example"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldView:
    """One field or parameter: a row of a table."""

    name: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentView:
    """A body in one media type."""

    media: str
    fields: tuple[FieldView, ...]
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """One answer of an operation that is no problem document."""

    status: str
    description: str
    contents: tuple[ContentView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationView:
    """One operation, with everything that its section of the page shows."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    needs_key: bool
    parameters: tuple[FieldView, ...]
    bodies: tuple[ContentView, ...]
    answers: tuple[AnswerView, ...]
    problems: tuple[int, ...]
    curl: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TagView:
    """The operations that belong together."""

    name: str
    description: str
    operations: tuple[OperationView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """The whole page."""

    title: str
    paragraphs: tuple[str, ...]
    tags: tuple[TagView, ...]


def view_document(document: Document) -> DocumentView:
    """Return what the page shows, in the document's order."""
    operations = [
        (operation["tags"][0], _operation(method, path, operation, document))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    return DocumentView(
        title=document["info"]["title"],
        paragraphs=tuple(document["info"]["description"].split("\n\n")),
        tags=tuple(
            TagView(
                name=tag["name"],
                description=tag["description"],
                operations=tuple(o for name, o in operations if name == tag["name"]),
            )
            for tag in document["tags"]
        ),
    )


def _operation(method: str, path: str, operation: Document, document: Document) -> OperationView:
    answers = []
    problems = []
    for status, given in operation["responses"].items():
        if "$ref" in given:
            problems.append(int(status))
            continue
        contents = _contents(given["content"], document)
        answers.append(
            AnswerView(status=status, description=given["description"], contents=contents)
        )
    bodies = _contents(operation.get("requestBody", {}).get("content", {}), document)
    needs_key = operation.get("security") != []
    return OperationView(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        needs_key=needs_key,
        parameters=tuple(_parameter(p, document) for p in operation.get("parameters", [])),
        bodies=bodies,
        answers=tuple(answers),
        problems=tuple(problems),
        curl=_curl(method.upper(), path, bodies, needs_key=needs_key),
    )


def _parameter(parameter: Document, document: Document) -> FieldView:
    schema, nullable = _resolve(parameter["schema"], document)
    where = {"path": "path", "query": "query", "header": "header"}[parameter["in"]]
    return FieldView(
        name=parameter["name"],
        kind=f"{_kind(schema, nullable=nullable)}, in the {where}",
        required=parameter.get("required", False),
        description=str(parameter.get("description") or schema.get("description") or ""),
    )


def _contents(contents: Document, document: Document) -> tuple[ContentView, ...]:
    return tuple(
        ContentView(
            media=media,
            fields=tuple(_fields(content["schema"], document)),
            example=_example(content, document),
        )
        for media, content in contents.items()
    )


def _example(content: Document, document: Document) -> str:
    schema, _ = _resolve(content["schema"], document)
    example = content.get("example") or next(iter(schema.get("examples", [])), "")
    if isinstance(example, str):
        return example
    return json.dumps(example, indent=2, ensure_ascii=False)


def _fields(schema: Document, document: Document, prefix: str = "") -> Iterator[FieldView]:
    """Yield the fields of an object, those of its parts after it under dotted names."""
    resolved, _ = _resolve(schema, document)
    for name, given in resolved.get("properties", {}).items():
        field, nullable = _resolve(given, document)
        path = f"{prefix}{name}"
        yield FieldView(
            name=path,
            kind=_kind(field, nullable=nullable),
            required=name in resolved.get("required", ()),
            description=str(given.get("description") or field.get("description") or ""),
        )
        if field.get("type") == "array":
            yield from _fields(field["items"], document, f"{path}[].")
        else:
            yield from _fields(field, document, f"{path}.")


def _resolve(schema: Document, document: Document) -> tuple[Document, bool]:
    """Return the schema behind references, and whether null is allowed beside it."""
    if "$ref" in schema:
        group, name = schema["$ref"].removeprefix(_REF).split("/")
        return _resolve(document["components"][group][name], document)
    options = [s for s in schema.get("anyOf", []) if s != {"type": "null"}]
    nullable = len(options) < len(schema.get("anyOf", []))
    if len(options) == 1:
        return _resolve(options[0], document)[0], nullable
    return schema, nullable


def _kind(schema: Document, *, nullable: bool) -> str:
    words = [_basic(schema)]
    if nullable:
        words.append("or null")
    return " ".join(words) + _bounds(schema)


def _basic(schema: Document) -> str:
    if "enum" in schema:
        return " | ".join(f"`{value}`" for value in schema["enum"])
    if "format" in schema:
        return _FORMATS.get(schema["format"]) or str(schema["format"])
    if "anyOf" in schema:
        options = [_basic(s) for s in schema["anyOf"] if s not in ({}, {"type": "null"})]
        return " or ".join(option for option in options if option)
    return str(schema.get("type", "object"))


def _bounds(schema: Document) -> str:
    for low, high, unit in (
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minimum", "maximum", ""),
    ):
        if high in schema:
            least = schema.get(low, 0)
            return f", {least:,g} to {schema[high]:,g}{unit}"
    return ""


def _curl(method: str, path: str, bodies: tuple[ContentView, ...], *, needs_key: bool) -> str:
    parts = [f"curl {'' if method == 'GET' else f'-X {method} '}{_BASE}{path}"]
    if needs_key:
        parts.append('-H "Authorization: Bearer $SITE_KEY"')
    if bodies:
        parts.append(f"-H 'Content-Type: {bodies[0].media}'")
        compact = json.dumps(json.loads(bodies[0].example), ensure_ascii=False)
        parts.append(f"-d {shlex.quote(compact)}")
    return " \\\n  ".join(parts)
