"""Writes the clients from the OpenAPI document: `python -m service.web.clients.generate`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from service.ports.services import Services
from service.web.api.openapi import Document, describe
from service.web.app import api_routes
from service.web.clients.files import TEMPLATES
from service.web.clients.view import FieldView, OperationView, TypeView, view_clients
from service.web.edge.config import WebConfig
from service.web.edge.ids import ID_PATTERN

_WIDTH = 100
_REF = "#/components/schemas/"
_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_JAVASCRIPT = {name: name for name in _PYTHON} | {"integer": "number"}


def write_clients(document: Document) -> dict[Path, str]:
    """Return what each client's file is to say."""
    # What is written is code, and all names in it are this service's own.
    environment = Environment(  # noqa: S701  # no page
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "prose": _prose,
        "python_words": _python_words,
        "python_field": _python_field,
        "python_head": _python_head,
        "python_request": _python_request,
        "javascript_property": _javascript_property,
        "javascript_options": _javascript_options,
        "javascript_head": _javascript_head,
        "javascript_call": _javascript_call,
    }
    view = view_clients(document)
    return {
        path: environment.get_template(template).render(client=view, id_pattern=ID_PATTERN)
        for path, template in TEMPLATES.items()
    }


def _prose(text: str, indent: int, mark: str = "", first: int = 0) -> str:
    """Return text in lines that fit, each after the indent and the mark; `first` is taken already.

    The first line begins where it is put.
    """
    before = " " * indent + mark
    paragraphs = [
        textwrap.fill(
            " ".join(paragraph.replace("*/", "* /").split()),
            _WIDTH - len(before),
            initial_indent=" " * first if not index else "",
            break_long_words=False,
            break_on_hyphens=False,
        ).lstrip()
        for index, paragraph in enumerate(text.split("\n\n"))
    ]
    return f"\n{before.rstrip()}\n{before}".join(
        paragraph.replace("\n", f"\n{before}") for paragraph in paragraphs
    )


def _type(schema: Document, names: Mapping[str, str], many: str) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF)
    if "anyOf" in schema:
        # An empty schema lets a single comment of a batch be refused, which no caller wants.
        kinds = [_type(one, names, many) for one in schema["anyOf"] if one]
        return " | ".join(dict.fromkeys(kinds))
    if schema["type"] == "array":
        return many.format(_type(schema["items"], names, many))
    return names[schema["type"]]


def _python_type(schema: Document) -> str:
    return _type(schema, _PYTHON, "list[{}]")


def _javascript_type(schema: Document) -> str:
    return _type(schema, _JAVASCRIPT, "Array<{}>")


def _python_words(one: TypeView) -> str:
    words = [f'"{word}"' for word in one.words]
    return _bracketed(f"{one.name} = Literal[", words, "]", indent=0)


def _python_field(field: FieldView) -> str:
    kind = _python_type(field.schema)
    return f"{field.name}: {kind if field.required else f'NotRequired[{kind}]'}"


def _python_head(one: OperationView) -> str:
    named = [f"{field.name}: {_python_type(field.schema)} | None = None" for field in one.query]
    if one.takes_key:
        named.append("idempotency_key: str | None = None")
    parameters = [
        "self",
        *(f"{name}: str" for name in one.ids),
        *([f"body: {one.body}"] if one.body else []),
        *(["*", *named] if named else []),
    ]
    return _bracketed(f"def {one.name}(", parameters, f") -> {one.answer}:", indent=4)


def _python_request(one: OperationView, call: str) -> str:
    ids = "".join(f", {name}={name}" for name in one.ids)
    parts = [f'"{one.method}"', f'_path("{one.path}"{ids})' if ids else f'"{one.path}"']
    if one.query:
        asked = [f'"{field.name}": {field.name}' for field in one.query]
        parts.append(_bracketed("query={", asked, "}", indent=16))
    if one.body:
        parts.append("body=body")
    if one.takes_key:
        parts.append("key=_key(idempotency_key)")
    if one.waits:
        parts.append("wait=wait or 0.0")
    head = f"_Request[{one.answer}]("
    line = f"return {call}({head}{', '.join(parts)}))"
    if "\n" not in line and len(line) + 8 <= _WIDTH:
        return line
    return f"return {call}(\n{' ' * 12}{_bracketed(head, parts, ')', indent=12)}\n{' ' * 8})"


def _bracketed(head: str, parts: Iterable[str], tail: str, *, indent: int) -> str:
    """Return it in one line where it fits, else a part a line, as the formatter leaves it."""
    parts = list(parts)
    line = head + ", ".join(parts) + tail
    if "\n" not in line and indent + len(line) <= _WIDTH:
        return line
    between = ",\n" + " " * (indent + 4)
    return f"{head}\n{' ' * (indent + 4)}{between.join(parts)},\n{' ' * indent}{tail}"


def _javascript_property(field: FieldView) -> str:
    name = field.name if field.required else f"[{field.name}]"
    return f"@property {{{_javascript_type(field.schema)}}} {name} {field.description}"


def _javascript_options(one: OperationView) -> str:
    named = [f"{field.name}?: {_javascript_type(field.schema)}" for field in one.query]
    if one.takes_key:
        named.append("idempotency_key?: string")
    return f"@param {{{{ {', '.join(named)} }}}} [options]" if named else ""


def _javascript_head(one: OperationView) -> str:
    first, *others = one.name.split("_")
    parameters = [
        *one.ids,
        *(["body"] if one.body else []),
        *(["options = {}"] if _javascript_options(one) else []),
    ]
    name = first + "".join(word.capitalize() for word in others)
    return f"{name}({', '.join(parameters)})"


def _javascript_call(one: OperationView) -> str:
    path = one.path
    for name in one.ids:
        path = path.replace(f"{{{name}}}", f"${{{name}}}")
    parts = [f'method: "{one.method}"', f"path: path`{path}`" if one.ids else f'path: "{path}"']
    if one.takes_key:
        query = [f"{field.name}: options.{field.name}" for field in one.query]
        parts += [f"query: {{ {', '.join(query)} }}"] if query else []
    elif one.query:
        parts.append("query: options")
    if one.body:
        parts.append("body")
    if one.takes_key:
        parts.append("key: keyOf(options.idempotency_key)")
    if one.waits:
        parts.append("wait: options.wait")
    return "\n      " + ",\n      ".join(parts) + ",\n    "


def describe_here() -> Document:
    """Return the OpenAPI document of this tree."""
    nobody = cast("Any", None)  # Routes are described without being called.
    config = WebConfig(secret_key="signs nothing")  # noqa: S106  # as it says
    services = Services(**{group.name: nobody for group in fields(Services)})
    return describe(api_routes(services, config, nobody, nobody))


if __name__ == "__main__":
    for file, text in write_clients(describe_here()).items():
        file.write_text(text, "utf-8")
