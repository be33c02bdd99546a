"""What a site can read about its comments, and decide on them."""

from __future__ import annotations

from models.inputs import ModelOutput
from service.domain.list_entry import Effect, EntryKind
from service.moderation.lists import NewEntry, add_entry
from tests.factories import SITE


def _submit(api, text="One.", **fields) -> str:
    return api.post("/v1/comments", json={"text": text} | fields).get_json()["id"]


def test_a_comment_of_another_site_does_not_exist(api, other_api):
    comment_id = _submit(api)

    read = other_api.get(f"/v1/comments/{comment_id}")
    decided = other_api.post(f"/v1/comments/{comment_id}/decision", json={"ruling": "approve"})
    undone = other_api.delete(f"/v1/comments/{comment_id}/decision")
    listed = other_api.get("/v1/comments").get_json()["comments"]

    assert (read.status_code, decided.status_code, undone.status_code) == (404, 404, 404)
    assert listed == []


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


def test_lists_are_narrowed_by_every_filter(api, classifier, clock, services):
    classifier.by_text = {"ham": ModelOutput(p_spam=0.01), "spam": ModelOutput(p_spam=0.99)}
    ham, spam, unsure = (_submit(api, text) for text in ("ham", "spam", "unsure"))
    classifier.answer = None
    degraded = _submit(api, "degraded")
    services.queue.judges = False
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


def test_a_decision_overrules_the_verdict_and_no_site_passes_for_a_moderator(api):
    body = api.post(
        f"/v1/comments/{_submit(api)}/decision",
        json={"ruling": "reject", "note": "Sells boilers.", "decided_by": "admin"},
    ).get_json()

    assert (body["state"], body["action"], body["needs_review"]) == ("decided", "reject", False)
    decision = body["decision"]
    assert (decision["ruling"], decision["note"]) == ("reject", "Sells boilers.")
    assert decision["decided_by"] == "site: admin"
    assert body["verdict"]["outcome"] == "unsure"


def test_what_the_site_deleted_is_withdrawn_once_and_no_words_stay(api, other_api, services):
    kept = api.post("/v1/comments", json={"text": "Mara was here.", "author": {"name": "Mara"}})
    comment_id = kept.get_json()["id"]

    foreign = other_api.delete(f"/v1/comments/{comment_id}")
    answers = [api.delete(f"/v1/comments/{comment_id}") for _ in range(2)]
    late = api.post(f"/v1/comments/{comment_id}/decision", json={"ruling": "approve"})

    case = services.cases.get(comment_id)
    assert foreign.status_code == 404
    assert [answer.status_code for answer in (*answers, late)] == [200, 200, 409]
    assert answers[0].get_json()["verdict"] == answers[1].get_json()["verdict"]
    assert case.withdrawn_at is not None
    assert "Mara" not in f"{case.comment.text} {case.comment.author.name}"
    assert api.delete("/v1/comments/com_none").status_code == 404


def test_the_verdict_names_the_entry_that_decided_and_of_a_person_its_kind_alone(services, api):
    def listed(kind, value, effect):
        new = NewEntry(effect=effect, kind=kind, value=value, reason="So it is", site_id=SITE)
        return add_entry(new, services, by="Kim")

    shop = listed(EntryKind.DOMAIN, "pills-direct.shop", Effect.BLOCK)
    mara = listed(EntryKind.EMAIL, "mara@example.org", Effect.ALLOW)

    spam, ham = (
        api.post("/v1/comments?wait=1", json=body).get_json()["verdict"]
        for body in (
            {"text": "See https://pills-direct.shop/now"},
            {"text": "A remark", "author": {"email": "mara@example.org"}},
        )
    )

    assert (spam["outcome"], ham["outcome"]) == ("spam", "ham")
    assert spam["instruction"] == {
        "entry_id": shop.id,
        "effect": "block",
        "kind": "domain",
        "label": "pills-direct.shop",
        "reason": "So it is",
    }
    assert spam["explanation"][0].startswith("Called spam by a block entry of the moderators")
    assert ham["instruction"]["label"] is None
    assert mara.label not in str(ham)
