"""Describes the API as an OpenAPI 3.1 document, from the models that validate and answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema

from service.domain.comment import MAX_URL_CHARS
from service.web.api.batch import NDJSON
from service.web.api.callback_answers import CallbackMessage
from service.web.api.examples import ANSWERS, COMMENT_REQUEST, MESSAGE, REQUESTS
from service.web.api.route import JSON, Route
from service.web.edge.answers import FormTokenAnswer, LiveAnswer, ProblemAnswer, ReadyAnswer
from service.web.edge.errors import KINDS, PROBLEM_TYPE, problem
from service.web.edge.ids import ID_PATTERN
from service.web.edge.reading import IDEMPOTENCY_KEY, MAX_KEY_CHARS

Document = dict[str, Any]
"""JSON-like: its form is OpenAPI's, which its own tests check."""

# Where Flask has `<id:comment_id>`, OpenAPI has `{comment_id}`.
_IN_PATH = re.compile(r"<id:(\w+)>")
_REF = "#/components/schemas/"
_EVERYWHERE = (401, 429, 500, 503)
_WITH_BODY = (400, 413, 415, 422)
_WITH_PATH = (404,)
_HAS_RETRY_AFTER = (429, 503)
_ABOUT = """\
Slopsieve judges comments: send each one, read its verdict with the reasons, and tell what your \
moderators decided. Every verdict says why.

Send your site key as `Authorization: Bearer slop_…`. Answers carry `X-Request-Id`; send your own \
(8 to 64 letters, digits, `.`, `_` or `-`) to find a request in the log. Fields that are not known \
are refused by name, and all that is wrong is named at once. Spans count Unicode code points.\
"""
_TAGS = {
    "Comments": "Send comments, read their verdicts.",
    "Decisions": "For sites whose moderators decide elsewhere.",
    "Site": "The site that the key belongs to.",
    "Keys": "Issue, rotate and revoke the site's keys.",
    "Callbacks": "Be told of verdicts and decisions, signed as Standard Webhooks.",
    "Forms": "For the script on a site's pages; no key needed, the hook's id is public.",
    "Health": "For scripts and load balancers; no key needed.",
}


class _Schemas(GenerateJsonSchema):
    """Leaves out the titles that only repeat the fields' names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # as inherited
        return False


def describe(routes: Sequence[Route]) -> Document:
    """Return the OpenAPI document of these routes and of the health checks."""
    schemas = _schemas(routes)
    paths: Document = {}
    for route in routes:
        path = "/v1" + _IN_PATH.sub(r"{\1}", route.path)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
    paths |= _forms() | _health()
    queries = {route.query.__name__ for route in routes if route.query}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Slopsieve", "version": "1", "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"siteKey": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "webhooks": {"comment": {"post": _callback()}},
        "components": {
            "schemas": {name: s for name, s in schemas.items() if name not in queries},
            "responses": {_name(status): _problem(status) for status in sorted(KINDS)},
            "securitySchemes": {
                "siteKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A site key; `slopsieve sites add NAME` prints the first one.",
                }
            },
        },
    }


def _schemas(routes: Sequence[Route]) -> Document:
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (ProblemAnswer, "serialization"),
        (LiveAnswer, "serialization"),
        (ReadyAnswer, "serialization"),
        (FormTokenAnswer, "serialization"),
        (CallbackMessage, "serialization"),
    ]
    for route in routes:
        wanted.append((route.answer, "serialization"))
        wanted += [(model, "validation") for model in (route.body, route.query) if model]
    _, document = models_json_schema(
        list(dict.fromkeys(wanted)), ref_template=_REF + "{model}", schema_generator=_Schemas
    )
    schemas: Document = document["$defs"]
    for name, example in REQUESTS.items():
        schemas[name]["examples"] = [example]
    return schemas


def _operation(route: Route, schemas: Document) -> Document:
    operation: Document = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": [*_path_parameters(route), *_query_parameters(route, schemas)],
        "responses": _responses(route),
    }
    if route.description:
        operation["description"] = route.description
    if route.takes_idempotency_key:
        operation["parameters"].append(_idempotency_key())
    if route.body:
        operation["requestBody"] = {"required": True, "content": _body(route, route.body)}
    return operation


def _path_parameters(route: Route) -> list[Document]:
    schema = {"type": "string", "pattern": f"^{ID_PATTERN}$"}
    return [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name in _IN_PATH.findall(route.path)
    ]


def _query_parameters(route: Route, schemas: Document) -> list[Document]:
    if route.query is None:
        return []
    parameters = []
    for name, field in schemas[route.query.__name__]["properties"].items():
        schema = {k: v for k, v in field.items() if k not in ("description", "default")}
        # A query has no null: what is absent is left out.
        given = [s for s in schema.pop("anyOf", []) if s != {"type": "null"}]
        schema |= given[0] if len(given) == 1 else {}
        if field.get("default") is not None:
            schema["default"] = field["default"]
        parameter: Document = {"name": name, "in": "query", "schema": schema}
        if name in schemas[route.query.__name__].get("required", ()):
            parameter["required"] = True
        if "description" in field:
            parameter["description"] = field["description"]
        parameters.append(parameter)
    return parameters


def _idempotency_key() -> Document:
    return {
        "name": IDEMPOTENCY_KEY,
        "in": "header",
        "description": "Makes a repeat of the request harmless; other content needs another key.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_KEY_CHARS,
            "pattern": r"^[\x21-\x7E]([\x20-\x7E]*[\x21-\x7E])?$",
        },
    }


def _body(route: Route, model: type[BaseModel]) -> Document:
    content: Document = {JSON: {"schema": {"$ref": _REF + model.__name__}}}
    if NDJSON in route.media:
        content[NDJSON] = {
            "schema": {"type": "string", "description": "One comment a line, as in `comments`."},
            "example": f'{{"text": "{COMMENT_REQUEST["text"]}"}}\n{{"text": "Thank you."}}\n',
        }
    return content


def _responses(route: Route) -> Document:
    answer: Document = {
        "description": route.answered,
        "headers": _headers("X-Request-Id"),
        "content": {
            JSON: {
                "schema": {"$ref": _REF + route.answer.__name__},
                "example": ANSWERS[route.name].model_dump(mode="json"),
            }
        },
    }
    if route.status == HTTPStatus.ACCEPTED:
        answer["headers"] |= _headers("Location", "Retry-After")
    problems = {*_EVERYWHERE, *route.problems}
    problems |= set(_WITH_BODY) if route.body else set()
    problems |= set(_WITH_PATH) if "<" in route.path else set()
    problems |= {422} if route.query else set()
    return {str(route.status): answer} | {
        str(status): {"$ref": f"#/components/responses/{_name(status)}"}
        for status in sorted(problems)
    }


def _problem(status: int) -> Document:
    headers = ["X-Request-Id"]
    headers += ["Retry-After"] if status in _HAS_RETRY_AFTER else []
    return {
        "description": f"{KINDS[status].title}. {KINDS[status].meaning}",
        "headers": _headers(*headers),
        "content": {
            PROBLEM_TYPE: {
                "schema": {"$ref": _REF + ProblemAnswer.__name__},
                "example": problem(status, KINDS[status].meaning).model_dump(mode="json"),
            }
        },
    }


def _name(status: int) -> str:
    return "".join(word.capitalize() for word in KINDS[status].slug.split("-"))


def _headers(*names: str) -> Document:
    described = {
        "X-Request-Id": {"description": "Names this request in the log."},
        "Location": {"description": "Where the comment can be read."},
        "Retry-After": {"description": "Seconds after which to ask again."},
    }
    schemas: Document = {
        "X-Request-Id": {"type": "string"},
        "Location": {"type": "string"},
        "Retry-After": {"type": "integer", "minimum": 1},
    }
    return {name: described[name] | {"schema": schemas[name]} for name in names}


def _forms() -> Document:
    """Describe what the script of a comment form asks for."""
    hook = {"type": "string", "pattern": f"^{ID_PATTERN}$"}
    page = {"type": "string", "maxLength": MAX_URL_CHARS}
    refused = {
        str(status): {"$ref": f"#/components/responses/{_name(status)}"}
        for status in (404, 422, 429, 500, 503)
    }
    foreign = {
        PROBLEM_TYPE: {
            "schema": {"$ref": _REF + ProblemAnswer.__name__},
            "example": problem(403, "Tokens are for the site's own pages alone.").model_dump(
                mode="json"
            ),
        }
    }
    operation = {
        "operationId": "get_form_token",
        "tags": ["Forms"],
        "summary": "Get a token for a comment form",
        "description": (
            "Signed here, for one comment of this site and page, for a day. Solve it, and send it "
            "in the hidden field `slopsieve_form`, as the script `/public/{hook_id}/form.js` does."
        ),
        "security": [],
        "parameters": [
            {"name": "hook_id", "in": "path", "required": True, "schema": hook},
            {
                "name": "page",
                "in": "query",
                "description": "Where the form stands.",
                "schema": page,
            },
        ],
        "responses": {
            "200": {
                "description": "A token that nobody has had.",
                "headers": _headers("X-Request-Id"),
                "content": {
                    JSON: {
                        "schema": {"$ref": _REF + FormTokenAnswer.__name__},
                        "example": ANSWERS["get_form_token"].model_dump(mode="json"),
                    }
                },
            },
            "403": {"description": "A page of another site asked.", "content": foreign},
            **refused,
        },
    }
    return {"/public/{hook_id}/form-token": {"get": operation}}


def _callback() -> Document:
    """Describe what a site's callback is sent."""
    headers = {
        "webhook-id": "The message's own id; a repeat has the same.",
        "webhook-timestamp": "When it was sent, in seconds since 1970.",
        "webhook-signature": (
            "`v1,` and the base64 of HMAC-SHA256 over id, timestamp and body, joined by dots; one "
            "for each secret while it is being changed, parted by spaces."
        ),
    }
    return {
        "operationId": "receive_callback",
        "tags": ["Callbacks"],
        "summary": "Be told of a verdict or a decision",
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": text,
                "schema": {"type": "string"},
            }
            for name, text in headers.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                JSON: {
                    "schema": {"$ref": _REF + CallbackMessage.__name__},
                    "example": MESSAGE.model_dump(mode="json"),
                }
            },
        },
        "responses": {
            "2XX": {"description": "The message was taken and will not come again."},
            "410": {"description": "It is not wanted: it is given up at once."},
        },
    }


def _health() -> Document:
    def check(name: str, summary: str, answers: Sequence[tuple[int, str]], model: str) -> Document:
        content = {
            JSON: {
                "schema": {"$ref": _REF + model},
                "example": ANSWERS[name].model_dump(mode="json"),
            }
        }
        return {
            "get": {
                "operationId": name,
                "tags": ["Health"],
                "summary": summary,
                "security": [],
                "responses": {
                    str(status): {"description": text, "content": content}
                    for status, text in answers
                },
            }
        }

    ready = [(200, "Every part is there."), (503, "A part is not; `parts` names it.")]
    return {
        "/livez": check("livez", "Is the process up?", [(200, "It is.")], "LiveAnswer"),
        "/readyz": check("readyz", "Is every part there?", ready, "ReadyAnswer"),
    }
