"""Generates the OpenAPI 3.1 document and serves it with Swagger UI."""

import json
import re
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, current_app, render_template, send_from_directory
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from werkzeug.routing import Rule

from service.web.api.callbacks import CallbackMessage
from service.web.api.intake import NDJSON
from service.web.edge.auth import is_open, open_to_all
from service.web.edge.errors import KINDS, PROBLEM_TYPE, ProblemAnswer, problem
from service.web.edge.fields import ID_PATTERN
from service.web.edge.health import HEALTH
from service.web.edge.operation import IDEMPOTENCY_KEY, JSON, MAX_KEY_CHARS, operation, operation_of

Document = dict[str, Any]
"""A JSON object of an OpenAPI document."""

_FOLDER = Path(__file__).parent
EXAMPLES: Document = json.loads((_FOLDER / "examples.json").read_bytes())
"""Examples by the schema's name."""

# Flask's `<id:comment_id>` is `{comment_id}` in OpenAPI.
_IN_PATH = re.compile(r"<(?:id:)?(\w+)>")
_REF = "#/components/schemas/"
_TEXT: Document = {"type": "string"}
_HEADERS: Mapping[str, Document] = {
    "X-Request-Id": {"description": "The request's id in the log.", "schema": _TEXT},
    "Location": {"description": "The URL to read the comment at.", "schema": _TEXT},
    "Retry-After": {
        "description": "Seconds to wait before the next request.",
        "schema": {"type": "integer", "minimum": 1},
    },
}
_IDEMPOTENCY_KEY: Document = {
    "name": IDEMPOTENCY_KEY,
    "in": "header",
    "description": "Makes it safe to repeat the request; other content needs another key.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_KEY_CHARS,
        "pattern": r"^[\x21-\x7E]([\x20-\x7E]*[\x21-\x7E])?$",
    },
}


class _Schemas(GenerateJsonSchema):
    """Omits titles, which only repeat the fields' names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def describe() -> Document:
    """Return the OpenAPI document: `document.json` with the current app's operations."""
    operations = [
        (rule, view, one)
        for rule in current_app.url_map.iter_rules()
        if (one := operation_of(view := current_app.view_functions[rule.endpoint]))
    ]
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (ProblemAnswer, "serialization"),
        (CallbackMessage, "serialization"),
    ]
    for _, _, one in operations:
        wanted.append((one.answer, "serialization"))
        wanted += [(model, "validation") for model in (one.body, one.query) if model]
    _, models = models_json_schema(
        list(dict.fromkeys(wanted)), ref_template=_REF + "{model}", schema_generator=_Schemas
    )
    schemas: Document = models["$defs"]
    for name, example in EXAMPLES.items():
        schemas[name]["examples"] = [example]
    document: Document = json.loads((_FOLDER / "document.json").read_bytes())
    for rule, view, one in operations:
        described = _operation(rule, one, schemas)
        if is_open(view):
            described["security"] = []
            described["responses"].pop("401", None)
        path = document["paths"].setdefault(_IN_PATH.sub(r"{\1}", rule.rule), {})
        for method in (rule.methods or set()) - {"HEAD"}:
            path[method.lower()] = described
    queries = {one.query.__name__ for _, _, one in operations if one.query}
    document["components"]["schemas"] = {
        name: schema for name, schema in schemas.items() if name not in queries
    }
    document["components"]["responses"] = {
        _name(status): _problem(status) for status in (*KINDS, 403)
    }
    return document


def _operation(rule: Rule, one: operation, schemas: Document) -> Document:
    described: Document = {
        "operationId": rule.endpoint.rpartition(".")[2],
        "tags": [one.tag],
        "summary": one.summary,
        "parameters": [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"type": "string", "pattern": f"^{ID_PATTERN}$"},
            }
            for name in _IN_PATH.findall(rule.rule)
        ]
        + _query_parameters(one, schemas),
        "responses": _responses(rule, one),
    }
    if one.description:
        described["description"] = one.description
    if one.takes_idempotency_key:
        described["parameters"].append(_IDEMPOTENCY_KEY)
    if one.body:
        content = _content(one.body)
        if NDJSON in one.media:
            text = EXAMPLES["CommentRequest"]["text"]
            content[NDJSON] = {
                "schema": {
                    "type": "string",
                    "description": "One comment a line, as in `comments`.",
                },
                "example": f'{{"text": "{text}"}}\n{{"text": "Thank you."}}\n',
            }
        described["requestBody"] = {"required": True, "content": content}
    return described


def _query_parameters(one: operation, schemas: Document) -> list[Document]:
    if one.query is None:
        return []
    query = schemas[one.query.__name__]
    parameters = []
    for name, field in query["properties"].items():
        schema = {k: v for k, v in field.items() if k not in ("description", "default")}
        # A query has no null.
        given = [s for s in schema.pop("anyOf", []) if s != {"type": "null"}]
        schema |= given[0] if len(given) == 1 else {}
        if field.get("default") is not None:
            schema["default"] = field["default"]
        parameter: Document = {"name": name, "in": "query", "schema": schema}
        if name in query.get("required", ()):
            parameter["required"] = True
        if "description" in field:
            parameter["description"] = field["description"]
        parameters.append(parameter)
    return parameters


def _responses(rule: Rule, one: operation) -> Document:
    answer: Document = {
        "description": (one.answer.__doc__ or "").partition("\n")[0],
        "headers": _headers("X-Request-Id"),
        "content": _content(one.answer),
    }
    if HTTPStatus.ACCEPTED in one.statuses:
        answer["headers"] |= _headers("Location", "Retry-After")
    problems = set(one.problems)
    if one.tag != HEALTH:
        problems |= {401, 429, 500, 503}
    problems |= {400, 413, 415, 422} if one.body else set()
    problems |= {404} if "<" in rule.rule else set()
    problems |= {422} if one.query else set()
    responses: Document = {str(status): answer for status in one.statuses}
    return responses | {
        str(status): {"$ref": f"#/components/responses/{_name(status)}"}
        for status in sorted(problems)
    }


def _content(model: type[BaseModel]) -> Document:
    return {JSON: {"schema": {"$ref": _REF + model.__name__}}}


def _problem(status: int) -> Document:
    kind = KINDS.get(status)
    headers = ["X-Request-Id"]
    headers += ["Retry-After"] if status in (429, 503) else []
    meaning = kind.meaning if kind else HTTPStatus(status).description
    return {
        "description": f"{kind.title}. {meaning}" if kind else meaning,
        "headers": _headers(*headers),
        "content": {
            PROBLEM_TYPE: {
                "schema": {"$ref": _REF + ProblemAnswer.__name__},
                "example": problem(status, meaning).model_dump(mode="json"),
            }
        },
    }


def _name(status: int) -> str:
    slug = KINDS[status].slug if status in KINDS else HTTPStatus(status).phrase
    return "".join(word.capitalize() for word in slug.split("-"))


def _headers(*names: str) -> Document:
    return {name: _HEADERS[name] for name in names}


# The only files of `flask_swagger_ui` that are served.
_FILES = frozenset({"swagger-ui.css", "swagger-ui-bundle.js"})
# The style sheet of Swagger UI has icons as data: URLs.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_CODE = re.compile(r"`([^`]*)`")


def register_docs(app: Flask) -> None:
    """Serve `/openapi.json`, `/docs` and two files of Swagger UI, without a key.

    The document is generated at the first request.
    """
    as_json = cache(lambda: json.dumps(describe(), ensure_ascii=False))
    release = version("flask-swagger-ui")
    folder = Path(str(files("flask_swagger_ui"))) / "dist"
    app.add_template_filter(_prose, "prose")

    @app.get("/openapi.json")
    @open_to_all
    def openapi() -> Response:
        return Response(as_json(), content_type=JSON)

    @app.get("/docs")
    @open_to_all
    def docs() -> ResponseReturnValue:
        html = render_template("docs.html", release=release, kinds=KINDS)
        return html, {"Content-Security-Policy": _POLICY}

    @app.get("/docs/swagger-ui/<release_asked>/<name>")
    @open_to_all
    def swagger_ui(release_asked: str, name: str) -> Response:
        if release_asked != release or name not in _FILES:
            abort(HTTPStatus.NOT_FOUND)
        response = send_from_directory(folder, name)
        # The URL contains the version, so its content never changes.
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def _prose(text: str) -> Markup:
    """Return escaped HTML, with text in backticks as `<code>`."""
    parts = _CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
