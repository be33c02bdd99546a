"""Checks whose verdict is late: what is answered, what is told afterwards."""

import json
import time

import pytest

from service.domain.comment import Lane
from service.domain.delivery import DeliveryForm
from service.moderation.delivering import is_own_address, write_callback
from service.web.akismet import views
from service.web.edge import admission
from service.web.edge.admission import Admission
from service.web.edge.headers import ARRIVED
from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNSURE, Akismet
from tests.functional.akismet.conftest import akismet_headers as headers_of
from tests.functional.conftest import client_with
from tests.functional.webhooks.conftest import all_cases

# As it is served, before `wait_budget` makes tests independent of it.
BUDGET_SECONDS = views.WAIT_BUDGET_SECONDS
CALLBACK = "https://blog.example/wp-json/akismet/v1/webhook"


# Longer than no verdict will ever take here, and waited for in many tests.
IMPATIENT_SECONDS = 0.4


def test_the_wait_leaves_time_to_answer_before_any_client_gives_up():
    assert BUDGET_SECONDS <= 0.6


@pytest.fixture
def late(akismet, services, monkeypatch) -> Akismet:
    """A client of a server whose worker does not judge by itself."""
    monkeypatch.setattr(views, "WAIT_BUDGET_SECONDS", IMPATIENT_SECONDS)
    services.queue.judges = False
    return akismet


def deliveries_of(services):
    """Return all deliveries, the newest first."""
    return services.deliveries.recent(state=None, site_id=None, limit=100)


def test_a_late_comment_is_kept_judged_and_answered_when_asked_again(late, services, waits):
    provisional = late.check(SPAM, comment_author="Ann")
    early = late.check(SPAM, comment_author="Ann", recheck_reason="recheck")
    services.queue.run()
    again = late.check(SPAM, comment_author="Ann", recheck_reason="recheck")

    assert len(waits) == 2
    assert max(waits) < IMPATIENT_SECONDS
    assert (provisional.data, early.data, again.data) == (b"false", b"false", b"true")
    headers = headers_of(provisional)
    assert set(headers) == {"x-akismet-guid", "x-akismet-recheck-after"}
    assert int(headers["x-akismet-recheck-after"]) > 0
    assert len(all_cases(services)) == 1


@pytest.mark.parametrize(
    ("text", "result"), [(SPAM, "true"), (HAM, "false"), (UNSURE, "true")], ids=str
)
def test_the_late_verdict_goes_to_the_callback_as_the_answer_would_have(
    late, services, text, result
):
    answer = late.check(text, callback=CALLBACK)
    (delivery,) = deliveries_of(services)
    early = write_callback(delivery, services)

    services.queue.run()
    body = json.loads(write_callback(delivery, services))

    assert early is None
    assert (delivery.form, delivery.url) == (DeliveryForm.AKISMET, CALLBACK)
    assert body == {
        "key": late.key,
        "endpoint": "comment-check",
        "comments": [{"guid": headers_of(answer)["x-akismet-guid"], "result": result}],
    }


def test_the_first_blog_with_a_valid_key_is_the_sites_own_for_good(late, services):
    late.check(SPAM, blog=BLOG)

    late.check(HAM, blog="https://evil.example/", callback="https://evil.example/hook")
    late.check(UNSURE, callback="https://blog.example/" + "x" * 3_000)

    assert deliveries_of(services) == []
    assert len(all_cases(services)) == 3


def test_a_verdict_in_time_is_not_told_twice(akismet, services):
    akismet.check(SPAM, callback=CALLBACK)

    assert deliveries_of(services) == []


@pytest.mark.parametrize(
    ("url", "blog", "own"),
    [
        ("https://blog.example/x?rest_route=/akismet/v1/webhook", "https://blog.example", True),
        ("http://blog.example/x", "https://blog.example/", True),
        ("https://BLOG.example./x", "https://blog.example/", True),
        ("http://blog.example:8080/x", "http://blog.example:8080/", True),
        ("https://www.blog.example/x", "https://blog.example/", False),
        ("https://blog.example/x", None, False),
        ("https://blog.example.evil.example/hook", BLOG, False),
        ("https://blog.example@evil.example/hook", BLOG, False),
        ("https://blog.example:8443/hook", BLOG, False),
        ("//blog.example/hook", BLOG, False),
        ("https://[::1/hook", BLOG, False),
        ("javascript:alert(1)", BLOG, False),
    ],
)
def test_which_addresses_are_a_sites_own(url, blog, own):
    assert is_own_address(url, blog) is own


def test_a_late_test_promises_nothing_and_is_not_kept(late, services):
    answer = late.check(SPAM, is_test="1", callback=CALLBACK)

    services.queue.run()
    assert answer.data == b"false"
    assert deliveries_of(services) == []
    (case,) = all_cases(services)
    assert (case.verdict, case.comment.text) == (None, "")


def test_a_request_that_waited_too_long_for_a_thread_is_answered_at_once(late, services):
    late.client.environ_base[ARRIVED] = time.perf_counter() - 2 * IMPATIENT_SECONDS

    answer = late.check(SPAM)

    assert answer.data == b"false"
    assert "x-akismet-recheck-after" in headers_of(answer)
    assert services.queue.depth() == {Lane.INTERACTIVE: 0, Lane.BULK: 1}


@pytest.fixture
def overrun(monkeypatch) -> None:
    """A server that keeps one comment for later and has no line."""
    monkeypatch.setattr(admission, "_KEPT_AT_ONCE", 1)
    monkeypatch.setattr(Admission, "has_room", lambda *_given, **_named: False)


def test_a_check_in_a_flood_is_refused_before_anything_is_kept(overrun, late, services):
    kept = late.check(SPAM)

    refused = late.check(HAM)

    assert (kept.status_code, kept.data) == (200, b"false")
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1
    # WordPress holds a comment for such an answer; without a guid it would publish it.
    assert refused.data not in (b"true", b"false")
    assert "x-akismet-guid" in headers_of(refused)
    assert len(all_cases(services)) == 1


def test_a_check_is_refused_if_others_took_the_last_place_while_it_was_read(
    overrun, late, services, monkeypatch
):
    late.check(SPAM)
    answers = iter([True])
    monkeypatch.setattr(Admission, "has_room", lambda *_given, **_named: next(answers, False))

    refused = late.check(HAM)

    assert refused.status_code == 429
    assert len(all_cases(services)) == 1


def test_a_submission_that_waits_is_refused_in_a_flood_and_one_that_does_not_is_kept(
    overrun, late, services, app, site_key
):
    late.check(SPAM)
    client = client_with(app, site_key)

    waiting = client.post("/v1/comments?wait=1", json={"text": HAM})
    other = client.post("/v1/comments", json={"text": HAM})

    assert (waiting.status_code, waiting.json["type"]) == (429, "/docs#problem-too-many-requests")
    assert other.status_code == 202
    assert len(all_cases(services)) == 2
