"""What a site can read about its comments, and decide on them."""

from __future__ import annotations

import pytest

from models.inputs import ModelOutput
from service.domain.decision import Ruling
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.review.decide import decide_comment


def _submit(api, text="One.", **fields) -> str:
    return api.post("/v1/comments", json={"text": text} | fields).get_json()["id"]


def test_a_verdict_adds_up_and_says_why(api, classifier):
    classifier.answer = ModelOutput(p_spam=0.7)
    comment_id = _submit(api, "Read more at https://cheap-boilers.example/deal now")

    verdict = api.get(f"/v1/comments/{comment_id}").get_json()["verdict"]

    contributions = sum(s["contribution"] for s in verdict["signals"])
    assert verdict["score"] == pytest.approx(
        verdict["base"] + verdict["model_contribution"] + contributions
    )
    assert verdict["signals"]
    assert all(s["spans"] and s["reason"] for s in verdict["signals"])
    assert (verdict["ham_cutoff"], verdict["spam_cutoff"]) == (0.1, 0.9)
    assert (verdict["model_version"], verdict["degraded"]) == ("test-1", False)
    assert len(verdict["explanation"]) == 2 + len(verdict["signals"])


def test_a_comment_of_another_site_does_not_exist(api, other_api):
    comment_id = _submit(api)

    read = other_api.get(f"/v1/comments/{comment_id}")
    decided = other_api.post(f"/v1/comments/{comment_id}/decision", json={"ruling": "approve"})
    undone = other_api.delete(f"/v1/comments/{comment_id}/decision")
    listed = other_api.get("/v1/comments").get_json()["comments"]

    assert (read.status_code, decided.status_code, undone.status_code) == (404, 404, 404)
    assert listed == []


@pytest.mark.parametrize("comment_id", ["com_none", "%00", "..", "a" * 400, "é", "1'or'1"])
def test_an_id_that_names_nothing_is_not_found(api, comment_id):
    answer = api.get(f"/v1/comments/{comment_id}")

    assert answer.status_code == 404
    assert answer.content_type == "application/problem+json"


def test_comments_are_listed_the_newest_first_page_by_page(api, clock):
    ids = []
    for number in range(5):
        clock.advance(seconds=1)
        ids.append(_submit(api, f"Comment {number}."))

    pages = []
    path = "/v1/comments?limit=2"
    while path:
        page = api.get(path).get_json()
        pages.append([c["id"] for c in page["comments"]])
        path = page["links"]["next"]

    assert pages == [[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]


def test_the_next_page_keeps_the_filters(api, clock, services):
    for number in range(4):
        clock.advance(seconds=1)
        services.intake.queue.judges = number < 2
        _submit(api, f"Comment {number}.")

    first = api.get("/v1/comments?limit=1&state=judged&needs_review=true").get_json()
    second = api.get(first["links"]["next"]).get_json()

    states = [c["state"] for c in first["comments"] + second["comments"]]
    assert states == ["judged", "judged"]
    assert second["links"]["next"] is None


def test_lists_are_narrowed_by_every_filter(api, classifier, clock, services):
    classifier.by_text = {"ham": ModelOutput(p_spam=0.01), "spam": ModelOutput(p_spam=0.99)}
    ham, spam, unsure = (_submit(api, text) for text in ("ham", "spam", "unsure"))
    classifier.answer = None
    degraded = _submit(api, "degraded")
    services.intake.queue.judges = False
    clock.advance(hours=1)
    pending = _submit(api, "pending")
    api.post(f"/v1/comments/{unsure}/decision", json={"ruling": "approve"})

    def listed(query: str) -> set[str]:
        return {c["id"] for c in api.get(f"/v1/comments?{query}").get_json()["comments"]}

    assert listed("outcome=ham") == {ham}
    assert listed("outcome=spam") == {spam}
    assert listed("state=decided") == {unsure}
    assert listed("state=pending") == {pending}
    assert listed("degraded=true") == {degraded}
    assert listed("needs_review=true") == {degraded}
    assert listed("received_from=2026-03-01T12:30:00Z") == {pending}
    assert listed("received_before=2026-03-01T13:30:00%2B01:00") == {ham, spam, unsure, degraded}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=gone", "state"),
        ("state=", "state"),
        ("outcome=null", "outcome"),
        ("needs_review=yes", "needs_review"),
        ("degraded=1", "degraded"),
        ("received_from=yesterday", "received_from"),
        ("received_before=2026-03-01", "received_before"),
        ("cursor=nonsense", "cursor"),
        ("cursor=%00", "cursor"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=1.5", "limit"),
        ("limit=1&limit=2", "limit"),
        ("stat=judged", "stat"),
    ],
)
def test_a_bad_filter_is_named(api, query, field):
    answer = api.get(f"/v1/comments?{query}")

    assert answer.status_code == 422
    assert [e["field"] for e in answer.get_json()["errors"]] == [field]


def test_a_decision_overrules_the_verdict(api):
    comment_id = _submit(api)

    body = api.post(
        f"/v1/comments/{comment_id}/decision",
        json={"ruling": "reject", "note": "Sells boilers.", "decided_by": "jo"},
    ).get_json()

    assert (body["state"], body["action"], body["needs_review"]) == ("decided", "reject", False)
    assert body["decision"]["ruling"] == "reject"
    assert body["decision"]["note"] == "Sells boilers."
    assert body["verdict"]["outcome"] == "unsure"


def test_a_site_cannot_pass_for_a_moderator(api):
    comment_id = _submit(api)

    body = api.post(
        f"/v1/comments/{comment_id}/decision", json={"ruling": "reject", "decided_by": "admin"}
    ).get_json()

    assert body["decision"]["decided_by"] == "site: admin"


def test_the_same_ruling_twice_is_one_decision(api):
    path = f"/v1/comments/{_submit(api)}/decision"

    api.post(path, json={"ruling": "approve"})
    body = api.post(path, json={"ruling": "approve"}).get_json()

    assert len(body["decisions"]) == 1


def test_the_history_shows_every_decision_and_every_undo(api, clock):
    path = f"/v1/comments/{_submit(api)}/decision"
    for ruling in ("approve", "reject"):
        clock.advance(minutes=1)
        api.post(path, json={"ruling": ruling})
    clock.advance(minutes=1)

    body = api.delete(path).get_json()

    assert [d["ruling"] for d in body["decisions"]] == ["approve", "reject"]
    assert [d["undone_at"] for d in body["decisions"]] == [
        "2026-03-01T12:02:00Z",
        "2026-03-01T12:03:00Z",
    ]
    assert (body["state"], body["decision"], body["action"]) == ("judged", None, "hold")


def test_an_undo_that_names_its_decision_takes_back_no_other(api):
    path = f"/v1/comments/{_submit(api)}/decision"
    first = api.post(path, json={"ruling": "reject"}).get_json()["decision"]["id"]
    second = api.post(path, json={"ruling": "approve"}).get_json()["decision"]["id"]

    stale = api.delete(path, query_string={"decision": first})
    named = [api.delete(path, query_string={"decision": second}) for _ in range(2)]
    unknown = api.delete(path, query_string={"decision": "dec_none"})

    assert stale.status_code == 409
    assert "in the meantime: approve" in stale.get_json()["detail"]
    assert [answer.status_code for answer in named] == [200, 200]
    assert named[0].get_json() == named[1].get_json()
    assert unknown.status_code == 404


def test_undoing_nothing_is_not_found(api):
    answer = api.delete(f"/v1/comments/{_submit(api)}/decision")

    assert answer.status_code == 404


def test_a_withdrawn_comment_is_neither_decided_nor_undone(api, services):
    comment_id = _submit(api)
    path = f"/v1/comments/{comment_id}/decision"
    api.post(path, json={"ruling": "approve"})
    withdraw_comment(comment_id, services, by="site")

    decided, undone = api.post(path, json={"ruling": "reject"}), api.delete(path)

    for answer in (decided, undone):
        assert answer.status_code == 409
        assert "withdrawn this comment" in answer.get_json()["detail"]
    assert api.get(f"/v1/comments/{comment_id}").get_json()["decision"]["ruling"] == "approve"


def test_what_the_site_deleted_is_withdrawn_once_and_no_words_stay(api, other_api, services):
    kept = api.post("/v1/comments", json={"text": "Mara was here.", "author": {"name": "Mara"}})
    comment_id = kept.get_json()["id"]

    foreign = other_api.delete(f"/v1/comments/{comment_id}")
    answers = [api.delete(f"/v1/comments/{comment_id}") for _ in range(2)]

    case = services.review.cases.get(comment_id)
    assert foreign.status_code == 404
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].get_json()["verdict"] == answers[1].get_json()["verdict"]
    assert case.withdrawn_at is not None
    assert "Mara" not in f"{case.comment.text} {case.comment.author.name}"
    assert api.delete("/v1/comments/com_none").status_code == 404


def test_the_site_sees_what_our_moderators_decided(api, services):
    comment_id = _submit(api)
    decide_comment(comment_id, Ruling.APPROVE, services, decided_by="Robin")

    body = api.get(f"/v1/comments/{comment_id}").get_json()

    assert (body["action"], body["decision"]["decided_by"]) == ("publish", "Robin")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["ruling"]),
        ({"ruling": "maybe"}, ["ruling"]),
        ({"ruling": "approve", "note": "x" * 2_001}, ["note"]),
        ({"ruling": 1, "decided_by": "", "why": "x"}, ["ruling", "decided_by", "why"]),
    ],
)
def test_everything_wrong_with_a_decision_is_named(api, body, fields):
    answer = api.post(f"/v1/comments/{_submit(api)}/decision", json=body)

    assert answer.status_code == 422
    assert [e["field"] for e in answer.get_json()["errors"]] == fields
