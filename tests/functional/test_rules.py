"""A site's rules are previewed, set and read at what they held, by the API and on a page."""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Label
from service.domain.decision import Ruling
from service.domain.rules import SiteRules
from service.moderation.decisions import decide_comment
from service.moderation.delivering import plain_answer
from service.web.edge.fields import write_moment
from tests.factories import NOW, SITE
from tests.fakes import FixedClassifier
from tests.functional.moderators import post, words

URL = "https://blog.example/p/1"
PAGE = f"/sites/{SITE}/rules"
LINK = {"text": "See https://boilers.example/a."}
OLD = {"post": {"url": URL, "published_at": write_moment(NOW - timedelta(days=40))}}
POST = {"post": {"url": URL}}
AUTHOR = {"name": "Mara", "email": "mara@example.org"}


@pytest.fixture
def classifier():
    return FixedClassifier(0.01)


def judged(api, **comment):
    given = {"text": "A remark", "author": AUTHOR} | comment
    return api.post("/v1/comments?wait=1", json=given).get_json()


@pytest.mark.parametrize(
    ("name", "value", "comment", "rule", "reason", "german"),
    [
        ("hold_first_comment", True, {}, "first_comment", "no approved comment", "freigegebenen"),
        ("link_min_approved", 2, LINK, "newcomer_links", "author is new here", "ist neu hier"),
        ("link_min_days", 7, LINK, "newcomer_links", "author is new here", "ist neu hier"),
        ("max_links", 0, LINK, "many_links", "too many links", "zu viele Links"),
        ("max_post_days", 30, OLD, "old_post", "post is too old", "zu alt"),
        ("premoderated_posts", [URL], POST, "premoderated_post", "moderated first", "vorab"),
        ("closed_posts", [URL], POST, "closed_post", "are closed", "geschlossen"),
    ],
)
def test_by_the_api_and_on_the_page(
    api, services, client, name, value, comment, rule, reason, german
):
    decide_comment(judged(api, **comment)["id"], Ruling.REJECT, services, decided_by="Kim")
    form = {name: f"\r\n{value[0]}\r\n" if isinstance(value, list) else str(value)}

    preview = api.post("/v1/site/rules/preview", json={name: value}).get_json()
    previewed = words(post(client, PAGE, act="preview", **form))
    before = api.get("/v1/site/rules").get_json()
    answer = api.put("/v1/site/rules", json={name: value}).get_json()
    post(client, PAGE, act="save")
    emptied = api.get("/v1/site/rules").get_json()
    saved = post(client, PAGE, act="save", **form)
    shown, again = client.get(saved.location), client.get(saved.location)
    held = judged(api, **comment)
    opened = f"/review/comments/{held['id']}?show=all"

    assert (preview["seen"], preview["held"], preview["rejected"]) == (1, 1, 1)
    assert preview["by_rule"] == {rule: 1}
    assert "would have held 1 of 1 comments" in previewed
    assert "rejected 1 and approved 0" in previewed
    assert answer == api.get("/v1/site/rules").get_json() == before | {name: value}
    assert emptied == before != answer
    assert "The rules are saved" in shown.text
    assert "The rules are saved" not in again.text
    log = services.audit_log.recent(subject=SITE)
    assert [entry.actor for entry in log] == ["Ola", "Ola", f"site: {SITE}"]
    assert {entry.act for entry in log} == {"change settings"}
    assert all(entry.detail.startswith(f"{name}: ") for entry in log)
    assert (held["verdict"]["outcome"], held["action"]) == ("unsure", "hold")
    assert held["verdict"]["held_by"] == [rule]
    held_because, alone, *_ = held["verdict"]["explanation"]
    assert reason in held_because
    assert alone.startswith("By the evidence alone: ham")
    assert reason in words(client.get(opened))
    assert german in words(client.get(opened, headers={"Accept-Language": "de"}))
    # What is no campaign's is rejected with none.
    assert services.campaigns.fresh(limit=9) == []
    passing = replace(services.sites.get(SITE).settings, holds_unsure=False)
    assert plain_answer(services.cases.get(held["id"]), passing) is Label.SPAM


def test_an_approved_first_comment_lets_the_next_through(api, services):
    rules = {"hold_first_comment": True}
    api.put("/v1/site/rules", json=rules)
    first, second = judged(api), judged(api)

    decide_comment(first["id"], Ruling.APPROVE, services, decided_by="Kim")

    assert second["action"] == "hold"
    assert judged(api)["action"] == "publish"
    assert judged(api, author={"name": "Someone else"})["action"] == "hold"
    preview = api.post("/v1/site/rules/preview", json=rules).get_json()
    assert (preview["seen"], preview["held"], preview["approved"]) == (4, 2, 1)


def test_everything_wrong_is_named_and_nothing_is_set(api, services, client):
    numbers = dict.fromkeys(("link_min_approved", "link_min_days", "max_links"), 1.5)
    posts = {
        "premoderated_posts": ["ftp://a.example", "ftp://<script>"],
        "closed_posts": ["https://a.example/" + "x" * 500],
    }
    given = {"hold_first_comment": "yes", **numbers, "max_post_days": 0, **posts, "x": 1}
    for call, path in ((api.put, "/v1/site/rules"), (api.post, "/v1/site/rules/preview")):
        answer = call(path, json=given)
        fields = [error["field"].partition(".")[0] for error in answer.get_json()["errors"]]
        assert (answer.status_code, list(dict.fromkeys(fields))) == (422, list(given))
    lines = {name: "\n".join(urls) for name, urls in posts.items()}

    page = post(client, PAGE, act="save", max_post_days="0", **numbers, **lines)

    assert (page.status_code, page.text.count('class="problem"')) == (400, 6)
    assert "<script>" not in page.text.partition("<main")[2]
    assert services.sites.get(SITE).settings.rules == SiteRules()
    assert services.audit_log.recent(subject=SITE) == []
