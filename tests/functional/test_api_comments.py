"""What a site can read about its comments, and decide on them."""

from unittest.mock import ANY

from models.inputs import ModelOutput
from service.domain.list_entry import Effect, EntryKind
from service.moderation.lists import NewEntry, add_entry
from tests.factories import SITE


def _submit(api, text="One.", **fields) -> str:
    return api.post("/v1/comments", json={"text": text} | fields).get_json()["id"]


def test_what_belongs_to_another_site_does_not_exist(api, other_api, services):
    api.put("/v1/site/callback", json={"url": "https://blog.example/hook"})
    comment = f"/v1/comments/{_submit(api)}"
    (delivery, *_) = services.deliveries.recent(state=None, site_id=None, limit=9)
    key = api.get("/v1/site/keys").get_json()["keys"][0]["id"]
    calls = [
        ("GET", comment, None),
        ("DELETE", comment, None),
        ("POST", f"{comment}/decision", {"ruling": "approve"}),
        ("DELETE", f"{comment}/decision", None),
        ("GET", f"/v1/site/deliveries/{delivery.id}", None),
        ("POST", f"/v1/site/deliveries/{delivery.id}/replay", None),
        ("DELETE", f"/v1/site/keys/{key}", None),
    ]

    for method, path, body in calls:
        assert other_api.open(path, method=method, json=body).status_code == 404, (method, path)
    assert other_api.get("/v1/comments").get_json()["comments"] == []
    assert other_api.get("/v1/site/deliveries").get_json() == {"deliveries": []}
    assert api.get(comment).status_code == 200
    assert api.get(comment).get_json()["decisions"] == []


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


def test_lists_are_narrowed_by_filters_together(api, classifier, clock):
    classifier.by_text = {"ham": ModelOutput(p_spam=0.01)}
    ham, unsure = (_submit(api, text) for text in ("ham", "unsure"))
    clock.advance(hours=1)
    later = _submit(api, "later")

    def listed(query: str) -> list[str]:
        return [c["id"] for c in api.get(f"/v1/comments?{query}").get_json()["comments"]]

    before = "received_before=2026-03-01T13:30:00%2B01:00"
    assert listed("outcome=ham&state=judged") == [ham]
    assert listed(f"needs_review=true&degraded=false&{before}") == [unsure]
    assert listed("received_from=2026-03-01T12:30:00Z") == [later]


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


def test_what_the_site_deleted_is_withdrawn_once_and_no_words_stay(api, services):
    comment_id = _submit(api, "Mara was here.", author={"name": "Mara"})

    answers = [api.delete(f"/v1/comments/{comment_id}") for _ in range(2)]
    late = api.post(f"/v1/comments/{comment_id}/decision", json={"ruling": "approve"})

    case = services.cases.get(comment_id)
    assert [answer.status_code for answer in (*answers, late)] == [200, 200, 409]
    assert answers[0].get_json()["verdict"] == answers[1].get_json()["verdict"]
    assert case.withdrawn_at is not None
    assert "Mara" not in f"{case.comment.text} {case.comment.author.name}"
    assert api.delete("/v1/comments/com_none").status_code == 404


def test_the_verdict_names_the_entry_that_decided_and_of_a_person_its_kind_alone(services, api):
    for kind, value in (
        (EntryKind.DOMAIN, "pills-direct.shop"),
        (EntryKind.EMAIL, "mara@example.org"),
    ):
        new = NewEntry(effect=Effect.BLOCK, kind=kind, value=value, reason="So it is", site_id=SITE)
        add_entry(new, services, by="Kim")

    domain, person = (
        api.post("/v1/comments?wait=1", json=body).get_json()["verdict"]
        for body in (
            {"text": "See https://pills-direct.shop/now"},
            {"text": "A remark", "author": {"email": "mara@example.org"}},
        )
    )

    said = {"entry_id": ANY, "effect": "block", "reason": "So it is"}
    assert domain["outcome"] == "spam"
    assert domain["instruction"] == said | {"kind": "domain", "label": "pills-direct.shop"}
    assert domain["explanation"][0].startswith("Called spam by a block entry of the moderators")
    assert person["instruction"] == said | {"kind": "email", "label": None}
