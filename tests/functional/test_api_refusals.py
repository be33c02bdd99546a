"""What the API refuses, and how it says so: problem documents that name everything at once."""

import json

import pytest

from tests.log_lines import log_lines

PROBLEM = "application/problem+json"
JSON = "application/json"
SECRET_TEXT = "an unpublished remark about Zanzibar"


def _post(api, data: bytes, content_type: str = JSON):
    return api.post("/v1/comments", data=data, content_type=content_type)


def test_everything_wrong_is_named_at_once_with_a_remedy(api):
    body = {
        "text": "",
        "post": {"url": 3, "title": "x" * 501, "colour": "red"},
        "author": {"name": "x" * 301, "account_age_days": True},
        "address": "1.2.3",
        "written_at": "yesterday",
        "language": "English, please",
        "site_comment_id": "thread-5@3",
        "mood": "sunny",
    }

    answer = api.post("/v1/comments?wait=99", json=body, headers={"Idempotency-Key": "\x01"})

    problem = answer.get_json()
    assert (answer.status_code, answer.content_type) == (422, PROBLEM)
    assert [e["field"] for e in problem["errors"]] == [
        *("wait", "Idempotency-Key", "text", "post.url", "post.title", "post.colour"),
        *("author.name", "author.account_age_days", "site_comment_id", "address", "written_at"),
        *("language", "mood"),
    ]
    assert all(e["problem"] and e["remedy"] for e in problem["errors"])
    assert problem["detail"] == "The input has 13 problems."


def test_no_refusal_repeats_the_comment(api):
    bodies = [
        json.dumps({"text": 1, "note": SECRET_TEXT}).encode(),
        json.dumps({"text": SECRET_TEXT, "language": SECRET_TEXT, "address": SECRET_TEXT}).encode(),
        json.dumps({"text": SECRET_TEXT, "author": {"url": SECRET_TEXT * 99}}).encode(),
        json.dumps({"text": SECRET_TEXT * 2_000}).encode(),
        f'{{"text": "{SECRET_TEXT}'.encode(),
        f'{{"text": "{SECRET_TEXT}", "text": "{SECRET_TEXT}"}}'.encode(),
    ]

    answers = [_post(api, body) for body in bodies]

    assert all(answer.status_code in {400, 413, 422} for answer in answers)
    assert not any("Zanzibar" in answer.get_data(as_text=True) for answer in answers)


def test_names_that_are_refused_are_printable_short_and_few(api):
    odd = {"a\u202e\x07" + "b" * 500: 1}
    body = {"text": "x"} | odd | {f"field-{n}": n for n in range(5_000)}

    problem = api.post("/v1/comments", json=body).get_json()

    fields = [error["field"] for error in problem["errors"]]
    assert all(field.isprintable() and len(field) <= 100 for field in fields)
    assert len(fields) == 50
    assert "5001 problems" in problem["detail"]


UNREADABLE = [
    b"",
    b'{"text": "x"} {}',
    b'{"text": "caf\xe9"}',
    '{"text": "x"}'.encode("utf-16"),
    b"[" * 100_000,
    b'{"text": "x", "post": ' + b"[" * 20 + b"]" * 20 + b"}",
    b'{"author": {"account_age_days": ' + b"9" * 5_000 + b"}}",
    b'{"text": "\x01"}',
]
NO_JSON = ("text/plain", "application/x-www-form-urlencoded", "", "a/b/c")


def test_what_is_no_json_is_refused_by_its_kind(api):
    sent = [(data, JSON, 400, "unreadable-request") for data in UNREADABLE]
    sent += [(b"x" * (256 * 1024 + 1), JSON, 413, "too-large")]
    sent += [(b'{"text": "x"}', media, 415, "wrong-media-type") for media in NO_JSON]

    for data, media, status, kind in sent:
        answer = _post(api, data, media)
        assert (answer.status_code, answer.content_type) == (status, PROBLEM), (data[:30], media)
        assert answer.get_json()["type"] == f"/docs#problem-{kind}", (data[:30], media)


def test_nulls_and_empty_words_count_as_absent_and_whole_decimals_as_whole(api):
    body = {
        "text": "x",
        "post": {"url": "", "title": None},
        "author": {"name": "", "email": "", "url": None, "trust_level": 2.0},
        "address": None,
        "language": None,
        "site_comment_id": None,
    }

    assert api.post("/v1/comments", json=body).status_code == 202


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/comments/", 404),
        ("GET", "/v1//comments", 404),
        ("PUT", "/v1/comments", 405),
        ("OPTIONS", "/v1/comments", 405),
        ("BREW", "/v1/site", 405),
    ],
)
def test_an_unknown_path_or_method_is_a_problem_document_for_browsers_too(
    api, method, path, status
):
    answer = api.open(path, method=method, headers={"Accept": "text/html"})

    assert (answer.status_code, answer.content_type) == (status, PROBLEM)
    assert status != 405 or answer.headers["Allow"]


NO_KEYS = [
    *("", "Bearer", "Bearer ", "Basic abc", "Bearer slop_wrong", "Bearer " + "x" * 9_000),
    *("slop_bare", "Bearer caf\u00e9", "Bearer a b"),
]


def test_without_a_valid_key_nothing_is_answered(stranger):
    for headers in ({}, *({"Authorization": given} for given in NO_KEYS)):
        answer = stranger.get("/v1/site", headers=headers)

        assert (answer.status_code, answer.content_type) == (401, PROBLEM), headers
        assert answer.headers["WWW-Authenticate"].startswith("Bearer"), headers


def test_an_unforeseen_fault_is_a_500_that_tells_nothing_and_is_logged_without_words(
    api, services, monkeypatch, caplog
):
    def fail(*_given, **_named):
        raise RuntimeError(SECRET_TEXT)

    monkeypatch.setattr(services.cases, "page", fail)

    answer = api.get("/v1/comments", headers={"X-Request-Id": "find-me-here"})

    failure = next(r for r in caplog.records if r.message == "request failed")
    assert (answer.status_code, answer.content_type) == (500, PROBLEM)
    assert "Zanzibar" not in answer.get_data(as_text=True)
    assert "Zanzibar" not in log_lines(caplog)
    assert failure.request_id == "find-me-here"
    assert "error=RuntimeError at=comments.py:" in log_lines(caplog)
