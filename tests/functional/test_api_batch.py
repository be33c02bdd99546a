"""A batch of comments over HTTP: each accepted or refused on its own, in order."""

from __future__ import annotations

import json

from service.domain.comment import Lane

NDJSON = "application/x-ndjson"


def _lines(*rows: object) -> bytes:
    return b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in rows)


def test_each_comment_is_accepted_or_refused_on_its_own(api):
    rows = [{"text": "One."}, {"text": ""}, 3, {"text": "Two.", "unknown": 1}, {"text": "Three."}]
    rows.append({"text": "é" * 40_000})

    answer = api.post("/v1/comments/batch", json={"comments": rows})

    body = answer.get_json()
    assert answer.status_code == 200
    assert (body["accepted"], body["refused"]) == (2, 4)
    assert [r["status"] for r in body["results"]] == [202, 422, 422, 422, 202, 413]
    assert [r["index"] for r in body["results"]] == list(range(6))
    assert body["results"][3]["problem"]["errors"][0]["field"] == "unknown"
    assert body["results"][5]["problem"]["errors"][0]["field"] == "text"


def test_a_malformed_line_refuses_that_line_only(api):
    body = _lines(
        {"text": "One."},
        b"{nope",
        b"",
        b'{"text": "caf\xe9"}',
        b"[" * 50,
        b'{"text": "twice", "text": "twice"}',
        b'{"text": "x", "author": {"account_age_days": NaN}}',
        {"text": "Two."},
        b"",
    )

    answer = api.post("/v1/comments/batch", data=body, content_type=NDJSON)

    results = answer.get_json()["results"]
    assert [r["status"] for r in results] == [202, 400, 400, 400, 422, 422, 202]
    assert [r["index"] for r in results] == list(range(7))


def test_a_thousand_comments_are_taken_and_one_more_is_not(api, services):
    services.queue.judges = False
    rows = [{"text": f"Comment {n}."} for n in range(1_001)]

    taken = api.post("/v1/comments/batch", json={"comments": rows[:1_000]})
    refused = api.post("/v1/comments/batch", json={"comments": rows})
    refused_lines = api.post("/v1/comments/batch", data=_lines(*rows), content_type=NDJSON)

    assert taken.get_json()["accepted"] == 1_000
    assert (refused.status_code, refused_lines.status_code) == (413, 413)
    # Beyond sixteen mebibytes nothing is read.
    large = api.post("/v1/comments/batch", data=b" " * (16 * 2**20 + 1), content_type=NDJSON)
    assert large.status_code == 413
    assert services.comments.count_pending()[Lane.BULK] == 1_000


def test_repeats_within_a_batch_are_kept_once_and_conflicts_are_refused(api):
    rows = [
        {"text": "One.", "site_comment_id": "a"},
        {"text": "One.", "site_comment_id": "a"},
        {"text": "Two.", "site_comment_id": "a"},
    ]

    results = api.post("/v1/comments/batch", json={"comments": rows}).get_json()["results"]

    assert [r["status"] for r in results] == [202, 202, 409]
    assert results[0]["id"] == results[1]["id"]
    assert results[2]["site_comment_id"] == "a"


def test_a_batch_repeated_under_its_key_is_answered_alike_and_judged_once(api, classifier):
    rows = {"comments": [{"text": "+1"}, {"text": "+1"}, {"text": ""}]}
    headers = {"Idempotency-Key": "night-1"}

    first = api.post("/v1/comments/batch", json=rows, headers=headers)
    second = api.post("/v1/comments/batch", json=rows, headers=headers)

    assert second.get_json() == first.get_json()
    assert first.get_json()["results"][0]["id"] != first.get_json()["results"][1]["id"]
    assert sum(classifier.batches) == 2
