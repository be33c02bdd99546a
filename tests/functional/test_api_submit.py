"""Comments over HTTP, alone or in a batch: kept, judged once, answered."""

import json
from functools import partial

from models.inputs import ModelOutput
from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId, FormEvidence, Lane
from service.domain.sender import make_sender
from service.moderation.erasing import prune_comments
from service.moderation.judging import judge_batch
from service.web.edge.verdict_waiter import VerdictWaiter
from tests.factories import SITE
from tests.fakes import away

FULL = {
    "text": "The valve was stuck here too.",
    "post": {"url": "https://blog.example/p/1", "title": "Radiators", "excerpt": "Bleed them."},
    "author": {
        "name": "Mara",
        "email": "Mara@Example.org",
        "url": "https://mara.example",
        "account_id": "u-1",
        "account_age_days": 12,
        "trust_level": 1,
    },
    "address": "203.0.113.9",
    "user_agent": "Mozilla/5.0",
    "written_at": "2026-03-01T12:30:00+01:00",
    "language": "pt-BR",
    "reply_to": "wp-1",
    "site_comment_id": "wp-2",
    "form": {"seconds_on_page": 41.5, "honeypot_filled": False},
}


def test_everything_the_site_sends_is_kept(api, services):
    answer = api.post("/v1/comments", json=FULL | {"keep": None})

    body = answer.get_json()
    assert answer.headers["Location"] == body["links"]["self"] == f"/v1/comments/{body['id']}"
    assert (body["state"], body["action"]) == ("pending", "hold")
    comment = services.cases.get(CommentId(answer.get_json()["id"])).comment
    assert comment.text == FULL["text"]
    assert comment.post.title == "Radiators"
    assert comment.author.account_age_days == 12
    assert comment.author.trust_level == 1
    assert comment.written_at.isoformat() == "2026-03-01T11:30:00+00:00"
    assert (comment.language, comment.user_agent) == ("pt-BR", "Mozilla/5.0")
    assert (comment.reply_to, comment.site_comment_id) == ("wp-1", "wp-2")
    assert comment.form == FormEvidence(seconds_on_page=41.5, honeypot_filled=False)
    assert comment.sender == make_sender(
        address="203.0.113.9",
        email="mara@example.org",
        name="Mara",
        secrets=services.sender_secrets,
        site_id=SITE,
        account_id="u-1",
    )
    # Of address and e-mail only keyed hashes.
    assert "203.0.113.9" not in repr(comment)
    assert "mara@" not in repr(comment).lower()


def test_what_is_not_to_be_kept_is_judged_answered_and_forgotten(api, services, classifier):
    classifier.answer = ModelOutput(p_spam=0.99)

    body = api.post("/v1/comments?wait=5", json={**FULL, "keep": False}).get_json()

    assert (body["verdict"]["outcome"], body["action"]) == ("spam", "hold")
    kept = services.cases.get(CommentId(body["id"]))
    assert kept.withdrawn_at is not None
    assert (kept.comment.text, kept.comment.author.name) == ("", None)
    waiting = api.get("/v1/comments?needs_review=true").get_json()
    assert waiting["comments"] == []


def test_what_is_not_to_be_kept_goes_at_the_next_try_or_without_one(api, services, monkeypatch):
    body = FULL | {"keep": False}
    with monkeypatch.context() as broken:
        broken.setattr(services.personal_data, "withdraw", away)
        assert api.post("/v1/comments?wait=5", json=body).status_code == 503
        other = body | {"site_comment_id": "wp-3"}
        assert api.post("/v1/comments?wait=5", json=other).status_code == 503

    again = api.post("/v1/comments?wait=5", json=body)
    kept = api.post("/v1/comments?wait=5", json=FULL)
    services.clock.advance(minutes=11)
    pruned = prune_comments(services, keep=None, keep_spam=None, keep_held_spam=None)

    assert (again.status_code, kept.status_code, pruned) == (202, 409, 1)
    assert "Retry-After" not in again.headers
    page = services.cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=9)
    assert [case.comment.text for case in page.items] == ["", ""]


def test_what_is_not_to_be_kept_waits_for_its_verdict_and_goes_then(api, services):
    prune = partial(prune_comments, services, keep=None, keep_spam=None, keep_held_spam=None)
    services.queue.judges = False
    late = api.post("/v1/comments?wait=0.01", json=FULL | {"keep": False})
    services.clock.advance(minutes=11)
    pruned = [prune(), *judge_batch([late.get_json()["id"]], services), prune()]
    services.clock.advance(minutes=11)

    assert int(late.headers["Retry-After"]) > 0
    assert [*pruned, prune()] == [0, late.get_json()["id"], 0, 1]


def test_a_long_post_is_cut_to_an_excerpt(api, services):
    answer = api.post("/v1/comments", json={"text": "Yes.", "post": {"text": "x" * 90_000}})

    post = services.cases.get(CommentId(answer.get_json()["id"])).comment.post
    assert post.excerpt == "x" * 4_000


def test_without_a_verdict_in_time_the_answer_says_when_to_read_the_comment(api, services):
    services.queue.judges = False

    waited = api.post("/v1/comments?wait=0.02", json={"text": "One."})

    assert waited.get_json()["verdict"] is None
    assert int(waited.headers["Retry-After"]) > 0
    assert "Retry-After" not in api.post("/v1/comments", json={"text": "Two."}).headers


def test_behind_a_line_longer_than_its_wait_a_comment_is_accepted_at_once(
    api, services, waits, monkeypatch
):
    # Nobody who comes is judged in time.
    monkeypatch.setattr(VerdictWaiter, "join", lambda *_given, **_named: False)
    services.queue.judges = False

    answer = api.post("/v1/comments?wait=5", json={"text": "One."})

    assert answer.status_code == 202
    assert answer.get_json()["verdict"] is None
    assert int(answer.headers["Retry-After"]) > 0
    assert not any(waits)
    assert services.queue.depth() == {Lane.INTERACTIVE: 0, Lane.BULK: 1}
    assert services.comments.count_pending() == {Lane.INTERACTIVE: 0, Lane.BULK: 1}


def test_the_same_key_with_other_content_is_a_conflict(api):
    headers = {"Idempotency-Key": "k1"}
    first = api.post("/v1/comments", json={"text": "One."}, headers=headers).get_json()

    answer = api.post("/v1/comments", json={"text": "Other."}, headers=headers)

    assert answer.status_code == 409
    assert answer.get_json()["type"] == "/docs#problem-conflict"
    assert first["id"] in answer.get_json()["detail"]


def test_what_could_not_be_kept_is_refused_with_when_to_retry(api, services, monkeypatch):
    monkeypatch.setattr(services.comments, "add", away)

    answer = api.post("/v1/comments", json={"text": "One."})

    assert (answer.status_code, answer.content_type) == (503, "application/problem+json")
    assert int(answer.headers["Retry-After"]) > 0


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
