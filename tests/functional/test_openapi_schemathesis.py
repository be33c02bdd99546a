"""Attacks every operation from the API's own description: no fault, no answer beyond it."""

from __future__ import annotations

import re

import schemathesis
from hypothesis import HealthCheck, assume, settings
from pydantic import AwareDatetime, TypeAdapter
from schemathesis.config import SchemathesisConfig

from service.domain.comment import CommentId
from service.domain.finding import well
from service.domain.site import SiteSettings
from service.moderation.hooks import keep_form_hook
from service.moderation.sites import IssuedKey, issue_key
from service.web.api.intake import NDJSON
from service.web.app import create_app
from service.web.edge.config import WebConfig
from service.web.edge.fields import ID_PATTERN, is_email, is_web_address
from tests.factories import SITE, make_comment, make_delivery
from tests.fakes import make_services, submit_to
from tests.functional.conftest import SECRET_KEY

SERVICES = make_services()
# Waits are short and calls many: neither is what is attacked here.
CONFIG = WebConfig(
    secret_key=SECRET_KEY,
    max_wait_seconds=0.01,
    requests_per_minute=10**9,
    failures_per_minute=10**9,
)
APP = create_app(SERVICES, CONFIG, {"stores": lambda: well("stores", "they answer")})
# As many valid keys as leave room for those that a case makes.
MOST_KEYS = 40
KEYS: list[IssuedKey] = []
MOMENT = TypeAdapter(AwareDatetime)
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


def has_odd_addresses(body) -> bool:
    """Return True if an address in the body is none, which a schema cannot say."""
    if not isinstance(body, dict):
        return False
    parts = [part for part in (body.get("author"), body.get("post")) if isinstance(part, dict)]
    urls = [part["url"] for part in parts if isinstance(part.get("url"), str)]
    emails = [part["email"] for part in parts if isinstance(part.get("email"), str)]
    return not all(map(is_web_address, urls)) or not all(e == "" or is_email(e) for e in emails)


def is_dated_ahead(body) -> bool:
    """Return True if the body was written later than now, which a schema cannot say."""
    try:
        written_at = MOMENT.validate_python(body["written_at"])
    except (TypeError, KeyError, ValueError):
        return False
    return written_at > SERVICES.clock()


def is_not_kept(body) -> bool:
    """Return True if the body asks for a verdict alone."""
    return isinstance(body, dict) and body.get("keep") is False


@SCHEMA.parametrize()
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_is_described(case):
    # Whatever text comes, it is lines: there is no wrong one.
    assume(case.media_type != NDJSON or isinstance(case.body, str))
    # What is not to be kept needs a wait, which a schema cannot say.
    waits = (case.query or {}).get("wait") not in (None, 0, "0", 0.0)
    assume(waits or not is_not_kept(case.body))
    assume(not has_odd_addresses(case.body))
    assume(not is_dated_ahead(case.body))
    # An empty list in a query is not sent at all: what was wrong with it is gone.
    assume(all(value not in ([], {}, None) for value in (case.query or {}).values()))
    _leave_out_made_up_cursor(case)
    _uncross_cutoffs(case)
    key = _valid_key()
    _name_what_exists(case)

    case.call_and_validate(headers={"Authorization": f"Bearer {key}"})


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
    fresh = {
        "comment_id": _fresh_comment,
        "key_id": _fresh_key,
        "delivery_id": _fresh_delivery,
        "hook_id": lambda: keep_form_hook(SITE, SERVICES, actor="test").id,
    }
    for name, given in (case.path_parameters or {}).items():
        if re.fullmatch(ID_PATTERN, str(given)):
            case.path_parameters[name] = fresh[name]()


def _fresh_comment() -> CommentId:
    comment = make_comment()
    submit_to(SERVICES, comment)
    return comment.id


def _fresh_key() -> str:
    return issue_key(SITE, SERVICES, actor="test").key.id


def _fresh_delivery() -> str:
    """Keep a message that waits for its turn, and return its id."""
    delivery = make_delivery(_fresh_comment())
    SERVICES.deliveries.add([delivery])
    return delivery.id


def _leave_out_made_up_cursor(case):
    """Leave out a cursor that looks right: only the lists make them, no schema says how."""
    cursor = (case.query or {}).get("cursor")
    if isinstance(cursor, str) and len(cursor) <= 1_000:
        del case.query["cursor"]


def _uncross_cutoffs(case):
    """Put the lower cutoff first, and forget the ones set before: no schema compares numbers."""
    SERVICES.sites.change_settings(SITE, lambda _: SiteSettings())
    body = case.body if isinstance(case.body, dict) else {}
    cutoffs = [body.get(name) for name in ("ham_cutoff", "spam_cutoff")]
    if all(isinstance(c, int | float) and not isinstance(c, bool) for c in cutoffs):
        body["ham_cutoff"], body["spam_cutoff"] = sorted(cutoffs)
