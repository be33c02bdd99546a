"""The reference's test vectors, one by one."""

from __future__ import annotations

import pytest

from service.domain.comment import FormEvidence
from service.domain.report import Label
from tests.functional.akismet.conftest import (
    HAM,
    SPAM,
    kept_cases,
)
from tests.functional.akismet.conftest import akismet_headers as headers_of

THANKS = b"Thanks for making the web a better place."


def reports_of(services) -> list[Label]:
    """Return what was reported of the only comment there is."""
    (case,) = kept_cases(services)
    return [report.label for report in case.reports]


@pytest.mark.parametrize("call", ["verify-key", "comment-check"])
@pytest.mark.parametrize("blog", ["", "not a page", "ftp://blog.example", "https://"])
def test_a_blog_that_is_no_address_is_invalid_and_told_why(akismet, call, blog):
    answer = akismet.call(call, blog=blog, user_ip="192.0.2.7", comment_content=HAM)

    assert answer.data == b"invalid"
    assert "blog" in headers_of(answer)["x-akismet-debug-help"]


@pytest.mark.parametrize(
    "forced",
    [
        {"comment_author": "viagra-test-123"},
        {"comment_author": "akismet-guaranteed-spam"},
        {"comment_author_email": "akismet-guaranteed-spam@example.com"},
    ],
    ids=["old name", "new name", "address"],
)
def test_the_documented_spam_is_spam_and_not_kept(akismet, services, forced):
    answer = akismet.check(HAM, **forced)

    assert answer.data == b"true"
    assert set(headers_of(answer)) == {"x-akismet-guid"}
    assert kept_cases(services) == []


@pytest.mark.parametrize(
    "role", ["administrator", "editor,administrator", "editor, Administrator,super_admin"]
)
def test_an_administrator_is_never_spam(akismet, services, role):
    answer = akismet.check(SPAM, user_role=role)

    assert answer.data == b"false"
    assert set(headers_of(answer)) == {"x-akismet-guid"}
    assert kept_cases(services) == []


def test_a_check_without_user_ip_is_no_verdict_and_told_why(akismet):
    answer = akismet.check(SPAM, user_ip=None)

    assert answer.data not in (b"true", b"false", b"invalid")
    assert "user_ip" in headers_of(answer)["x-akismet-debug-help"]
    assert headers_of(answer)["x-akismet-guid"]


@pytest.mark.parametrize("address", ["", "unknown", "fe80::1%eth0"])
def test_an_empty_or_odd_address_is_judged_without_it(akismet, address):
    assert akismet.check(SPAM, user_ip=address).data == b"true"
    assert akismet.check(HAM, user_ip=address).data == b"false"


@pytest.mark.parametrize(
    ("value", "filled"), [("http://pills.example", True), ("", False), (None, False)]
)
def test_a_hidden_field_is_kept_as_filled_or_not_and_as_nothing_else(
    akismet, services, value, filled
):
    akismet.check(HAM, honeypot_field_name="hidden_trap", hidden_trap=value)

    (case,) = kept_cases(services)
    assert case.comment.form == FormEvidence(honeypot_filled=filled)
    assert "pills.example" not in repr(case)


def test_a_json_report_needs_no_blog_and_no_key_in_the_body(akismet, services):
    akismet.check(HAM)

    answer = akismet.client.post(
        "/1.1/submit-spam",
        json={"comment_content": HAM, "is_test": False, "user_ip": "198.51.100.3"},
        base_url=f"http://{akismet.key}.rest.akismet.com",
    )

    assert answer.data == THANKS
    assert reports_of(services) == [Label.SPAM]


@pytest.mark.parametrize(
    ("is_test", "learnt"), [("false", True), ("0", True), ("true", False), ("1", False)]
)
def test_a_report_is_learnt_unless_it_is_a_test(akismet, services, is_test, learnt):
    akismet.check(HAM)

    answer = akismet.call("submit-spam", comment_content=HAM, is_test=is_test)

    assert answer.data == THANKS
    assert reports_of(services) == ([Label.SPAM] if learnt else [])
