"""The API's own description: it is whole, its examples are true, and no attack gets past it."""

import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, assume, settings
from jsonschema_rs import Draft202012Validator  # comes with schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import positive_data_acceptance

from service.domain.comment import CommentId
from service.domain.finding import ok
from service.moderation.hooks import keep_form_hook
from service.moderation.sites import IssuedKey, issue_key
from service.web.api.intake import NDJSON
from service.web.api.openapi import EXAMPLES
from service.web.app import create_app
from service.web.edge.fields import ID_PATTERN
from tests.factories import SITE, make_delivery
from tests.fakes import make_services, submit_one
from tests.functional.conftest import SECRET_KEY

SERVICES = make_services()
# Waits are short and calls many: neither is what is attacked here.
CONFIG = {
    "SECRET_KEY": SECRET_KEY,
    "MAX_WAIT_SECONDS": 0.01,
    "REQUESTS_PER_MINUTE": 10**9,
    "FAILURES_PER_MINUTE": 10**9,
}
APP = create_app(SERVICES, CONFIG, {"stores": lambda: ok("stores", "they answer")})
DOCUMENT = APP.test_client().get("/openapi.json").get_json()


def _validator(schema: dict[str, Any]) -> Draft202012Validator:
    whole = {**schema, "components": DOCUMENT["components"]}
    return Draft202012Validator(whole, validate_formats=True)


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


def test_a_wait_is_as_long_as_this_server_allows():
    parameters = DOCUMENT["paths"]["/v1/comments"]["post"]["parameters"]

    [wait] = [one["schema"] for one in parameters if one["name"] == "wait"]
    assert wait["maximum"] == CONFIG["MAX_WAIT_SECONDS"]


# As many valid keys as leave room for those that a case makes.
MOST_KEYS = 40
KEYS: list[IssuedKey] = []
# What no schema can say: what an address is, what time it is, that a comment which is not kept
# needs a wait, which cursors the lists made, which of two numbers is larger.
UNSAID = {
    *("author.url", "author.email", "post.url", "post.published_at"),
    *("url", "written_at", "keep", "cursor", "ham_cutoff"),
    *("premoderated_posts", "closed_posts"),
}
# Texts have a size beyond which the answer is 413.
SCHEMATHESIS = SchemathesisConfig.from_dict(
    {
        "generation": {"mode": "all"},
        "checks": {"negative_data_rejection": {"expected-statuses": ["4xx"]}},
    }
)
SCHEMA = schemathesis.openapi.from_wsgi("/openapi.json", APP, config=SCHEMATHESIS)


@schemathesis.serializer(NDJSON)
def write_lines(context, value):
    """Send lines as they are, well-formed or not."""
    return str(value).encode("utf-8", "surrogatepass")


@SCHEMA.parametrize()
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_is_described(case):
    # Whatever text comes, it is lines: there is no wrong one.
    assume(case.media_type != NDJSON or isinstance(case.body, str))
    # An empty list in a query is not sent at all: what was wrong with it is gone.
    assume(all(value not in ([], {}, None) for value in (case.query or {}).values()))
    headers = {"Authorization": f"Bearer {_valid_key()}"}
    _name_what_exists(case)

    answer = case.call(headers=headers)
    refused = answer.json()["errors"] if answer.status_code == 422 else []
    fields = {error["field"].rstrip(".0123456789") for error in refused}
    is_unsaid = bool(refused) and fields <= UNSAID
    excluded = [positive_data_acceptance] if is_unsaid else []
    case.validate_response(answer, excluded_checks=excluded, headers=headers)


def _valid_key() -> str:
    """Return a key with which the next case can be sent, the same one as long as it will do.

    Some of the cases rotate or revoke keys, and a site has room for so many.
    """
    now = SERVICES.clock()
    valid = {key.id: key for key in SERVICES.sites.list_keys(SITE) if key.is_valid(now)}
    if not KEYS or KEYS[-1].key.id not in valid or len(valid) > MOST_KEYS:
        for key_id in valid:
            SERVICES.sites.end_key(key_id, revoked_at=now)
        KEYS.append(issue_key(SITE, SERVICES, actor="test"))
    return KEYS[-1].secret


def _name_what_exists(case):
    """Name what exists in place of what is made up, so that views are reached."""

    def comment() -> CommentId:
        return submit_one(SERVICES).id

    def delivery() -> str:
        waiting = make_delivery(comment())
        SERVICES.deliveries.add([waiting])
        return waiting.id

    fresh = {
        "comment_id": comment,
        "key_id": lambda: issue_key(SITE, SERVICES, actor="test").key.id,
        "delivery_id": delivery,
        "hook_id": lambda: keep_form_hook(SITE, SERVICES, actor="test").id,
    }
    for name, given in (case.path_parameters or {}).items():
        if re.fullmatch(ID_PATTERN, str(given)):
            case.path_parameters[name] = fresh[name]()
