"""The OpenAPI document is whole: its references lead somewhere, its examples are true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta  # comes with schemathesis

from service.web.api.openapi import EXAMPLES
from service.web.app import create_app
from service.web.edge.config import WebConfig
from service.web.edge.operation import operation_of
from tests.fakes import make_services

APP = create_app(make_services(), WebConfig(secret_key="for tests only", max_wait_seconds=7.5), {})
DOCUMENT = APP.test_client().get("/openapi.json").get_json()
BODIES = {
    operation.body.__name__: operation.body
    for operation in map(operation_of, APP.view_functions.values())
    if operation and operation.body
}


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _parts(part)


def _validator(schema: dict[str, Any]) -> Draft202012Validator:
    whole = {**schema, "components": DOCUMENT["components"]}
    return Draft202012Validator(whole, validate_formats=True)


def _has_example(part: dict[str, Any]) -> bool:
    return "examples" in part or str(part.get("$ref")).rpartition("/")[2] in EXAMPLES


def _operations() -> Iterator[dict[str, Any]]:
    for methods in DOCUMENT["paths"].values():
        yield from methods.values()


def test_every_schema_is_a_json_schema():
    schemas = DOCUMENT["components"]["schemas"]

    wrong = [name for name, schema in schemas.items() if not meta.is_valid(schema)]

    assert len(schemas) > 20
    assert wrong == []


@pytest.mark.parametrize("name", BODIES)
def test_every_body_has_an_example_that_its_model_takes(name):
    BODIES[name].model_validate(EXAMPLES[name])


def test_every_example_fits_its_schema():
    schemas = DOCUMENT["components"]["schemas"]
    examples = [(schemas[name], example) for name, example in EXAMPLES.items()]
    examples += [
        (content["schema"], content["example"])
        for answer in DOCUMENT["components"]["responses"].values()
        for content in answer["content"].values()
    ]

    errors = [e for schema, example in examples for e in _validator(schema).iter_errors(example)]

    assert errors == []


def test_every_answer_has_an_example_or_is_made_of_parts_that_have():
    schemas = DOCUMENT["components"]["schemas"]
    answered = {
        part["$ref"].rpartition("/")[2]
        for operation in _operations()
        for answer in operation["responses"].values()
        for part in _parts(answer.get("content", {}))
        if "$ref" in part
    }

    assert len(answered) > 15
    assert [name for name in answered if not any(map(_has_example, _parts(schemas[name])))] == []


def test_a_wait_is_as_long_as_this_server_allows():
    parameters = DOCUMENT["paths"]["/v1/comments"]["post"]["parameters"]

    assert {p["name"]: p["schema"].get("maximum") for p in parameters}["wait"] == 7.5


def test_every_operation_tells_what_can_go_wrong():
    silent = [
        o["operationId"]
        for o in _operations()
        if o.get("security") != [] and not {"401", "429", "500", "503"} <= set(o["responses"])
    ]

    assert silent == []
