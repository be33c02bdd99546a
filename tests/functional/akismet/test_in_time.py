"""Checks whose verdict is late: what is answered, what is told afterwards."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.delivery import DeliveryForm
from service.moderation.akismet_callback import is_own_address, write_callback
from service.web.akismet.check import WAIT_BUDGET_SECONDS
from service.web.config import WebConfig
from service.web.flask_app import create_app
from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNSURE, Akismet, kept_cases
from tests.functional.akismet.conftest import akismet_headers as headers_of
from tests.functional.conftest import SECRET_KEY

CALLBACK = "https://blog.example/wp-json/akismet/v1/webhook"


@pytest.fixture
def late(akismet, services) -> Akismet:
    """A client of a server whose worker does not judge by itself."""
    services.queue.judges = False
    return akismet


def deliveries_of(services):
    """Return all deliveries, the newest first."""
    return services.deliveries.recent(state=None, site_id=None, limit=100)


def test_a_late_verdict_is_a_provisional_no_within_the_budget(late):
    started = time.monotonic()

    answer = late.check(SPAM)

    assert time.monotonic() - started < 0.8
    assert answer.data == b"false"
    assert set(headers_of(answer)) == {"x-akismet-guid", "x-akismet-recheck-after"}
    assert headers_of(answer)["x-akismet-recheck-after"].isdigit()
    assert int(headers_of(answer)["x-akismet-recheck-after"]) > 0


def test_a_verdict_within_the_budget_is_answered_as_soon_as_it_is_there(late, services):
    timer = threading.Timer(0.1, services.queue.run)

    timer.start()
    started = time.monotonic()
    answer = late.check(SPAM)

    timer.join()
    assert answer.data == b"true"
    assert time.monotonic() - started < WAIT_BUDGET_SECONDS


def test_a_late_comment_is_kept_judged_and_answered_when_asked_again(late, services):
    late.check(SPAM, comment_author="Ann")
    services.queue.run()

    again = late.check(SPAM, comment_author="Ann", recheck_reason="recheck")

    assert again.data == b"true"
    assert len(kept_cases(services)) == 1


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


def test_the_key_is_not_kept_with_the_callback(late, services):
    late.check(SPAM, callback=CALLBACK)

    (delivery,) = deliveries_of(services)
    assert late.key not in repr(delivery)
    assert SPAM not in repr(delivery)


def test_a_verdict_in_time_is_not_told_twice(akismet, services):
    akismet.check(SPAM, callback=CALLBACK)

    assert deliveries_of(services) == []


@pytest.mark.parametrize(
    "callback",
    [
        "https://elsewhere.example/hook",
        "https://blog.example.evil.example/hook",
        "https://blog.example@evil.example/hook",
        "https://evil.example/?https://blog.example/",
        "https://blog.example:8443/hook",
        "ftp://blog.example/hook",
        "//blog.example/hook",
        "https://[::1/hook",
        "javascript:alert(1)",
        "https://blog.example/" + "x" * 3_000,
    ],
    ids=lambda url: url[:45],
)
def test_a_callback_elsewhere_than_under_the_sites_own_host_is_not_promised(
    late, services, callback
):
    late.check(SPAM, callback=callback)

    assert deliveries_of(services) == []
    assert len(kept_cases(services)) == 1


def test_the_first_blog_with_a_valid_key_is_the_sites_own_for_good(late, services):
    late.check(SPAM, blog=BLOG)

    late.check(HAM, blog="https://evil.example/", callback="https://evil.example/hook")

    assert deliveries_of(services) == []


@pytest.mark.parametrize(
    ("url", "blog", "own"),
    [
        ("https://blog.example/x?rest_route=/akismet/v1/webhook", "https://blog.example", True),
        ("http://blog.example/x", "https://blog.example/", True),
        ("https://BLOG.example./x", "https://blog.example/", True),
        ("http://blog.example:8080/x", "http://blog.example:8080/", True),
        ("https://blog.example/x", "http://blog.example:8080/", True),
        ("https://www.blog.example/x", "https://blog.example/", False),
        ("https://blog.example/x", None, False),
    ],
)
def test_which_addresses_are_a_sites_own(url, blog, own):
    assert is_own_address(url, blog) is own


def test_a_late_test_promises_nothing_and_is_not_kept(late, services):
    answer = late.check(SPAM, is_test="1", callback=CALLBACK)

    services.queue.run()
    assert answer.data == b"false"
    assert deliveries_of(services) == []
    (case,) = kept_cases(services)
    assert (case.verdict, case.comment.text) == (None, "")


def test_where_too_many_wait_the_others_are_answered_at_once(services, late):
    app = create_app(services, WebConfig(secret_key=SECRET_KEY, max_waiting=1), {})
    together = threading.Barrier(4)

    def check(_: int) -> tuple[bytes, float]:
        crowded = Akismet(client=app.test_client(), key=late.key)
        together.wait(10)
        started = time.monotonic()
        answer = crowded.check(SPAM)
        return answer.data, time.monotonic() - started

    with ThreadPoolExecutor(4) as crowd:
        answers = list(crowd.map(check, range(4)))

    assert {body for body, _ in answers} == {b"false"}
    assert sum(seconds < WAIT_BUDGET_SECONDS for _, seconds in answers) == 3
