"""The OpenAPI document is whole: its references lead somewhere, its examples are true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta  # comes with schemathesis

from service.web.api.examples import ANSWERS, REQUESTS
from service.web.api.openapi import describe
from service.web.app import api_routes
from service.web.edge.config import WebConfig
from service.web.edge.verdict_waiter import VerdictWaiter
from tests.fakes import make_services

CONFIG = WebConfig(secret_key="for tests only", max_wait_seconds=7.5)
SERVICES = make_services()
# No route is called here, so nothing is submitted and nobody waits.
ROUTES = api_routes(
    SERVICES,
    CONFIG,
    lambda comments: [],
    VerdictWaiter(SERVICES.review.cases.find_judged, max_waiting=1),
)
DOCUMENT = describe(ROUTES)


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _parts(part)


def _validator(schema: dict[str, Any]) -> Draft202012Validator:
    whole = {**schema, "components": DOCUMENT["components"]}
    return Draft202012Validator(whole, validate_formats=True)


def _operations() -> Iterator[dict[str, Any]]:
    for methods in DOCUMENT["paths"].values():
        yield from methods.values()


def test_every_reference_leads_somewhere():
    references = {part["$ref"] for part in _parts(DOCUMENT) if isinstance(part.get("$ref"), str)}

    lost = []
    for reference in references:
        at: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            at = at.get(step)
        if at is None:
            lost.append(reference)

    assert len(references) > 20
    assert lost == []


def test_every_schema_is_a_json_schema():
    schemas = DOCUMENT["components"]["schemas"]

    wrong = [name for name, schema in schemas.items() if not meta.is_valid(schema)]

    assert len(schemas) > 20
    assert wrong == []


@pytest.mark.parametrize("name", REQUESTS)
def test_every_example_of_a_request_fits_its_model_and_its_schema(name):
    model = next(r.body for r in ROUTES if r.body and r.body.__name__ == name)

    model.model_validate(REQUESTS[name])

    errors = list(_validator(DOCUMENT["components"]["schemas"][name]).iter_errors(REQUESTS[name]))
    assert errors == []


def test_every_answer_has_an_example_that_fits_its_schema():
    examples = [
        (content["schema"], content["example"])
        for operation in [*_operations(), {"responses": DOCUMENT["components"]["responses"]}]
        for answer in operation["responses"].values()
        for content in answer.get("content", {}).values()
    ]

    errors = [e for schema, example in examples for e in _validator(schema).iter_errors(example)]

    # One more for a check of health that fails, and one for a page of another site.
    assert len(examples) == len(ANSWERS) + 2 + len(DOCUMENT["components"]["responses"])
    assert errors == []


def test_every_operation_needs_the_key_except_health_and_what_a_page_asks():
    open_operations = {o["operationId"] for o in _operations() if o.get("security") == []}

    assert DOCUMENT["security"] == [{"siteKey": []}]
    assert open_operations == {"livez", "readyz", "get_form_token"}


def test_every_operation_tells_what_can_go_wrong():
    silent = [
        o["operationId"]
        for o in _operations()
        if o.get("security") != [] and not {"401", "429", "500", "503"} <= set(o["responses"])
    ]

    assert silent == []
