"""A site sets rules that hold comments, previews them, and reads in a verdict which one held."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment
from service.web.edge.moments import write_moment
from tests.factories import NOW, SITE
from tests.fakes import FixedClassifier
from tests.functional.conftest import client_with

URL = "https://blog.example/p/1"
OFF = {
    "hold_first_comment": False,
    "link_min_approved": None,
    "link_min_days": None,
    "max_links": None,
    "max_post_days": None,
    "premoderated_posts": [],
    "closed_posts": [],
}
LINK = "See https://boilers.example/a."
AUTHOR = {"name": "Mara", "email": "mara@example.org"}
OLD = write_moment(NOW - timedelta(days=40))
# The rule, a comment that it holds, and what the verdict says of it.
RULES = {
    "first_comment": ({"hold_first_comment": True}, {}, "no approved comment here"),
    "newcomer_links": ({"link_min_approved": 2}, {"text": LINK}, "(fewer than 2)"),
    "recent_links": ({"link_min_days": 7}, {"text": LINK}, "(days asked for: 7)"),
    "many_links": ({"max_links": 0}, {"text": LINK}, "too many links (more than 0)"),
    "old_post": (
        {"max_post_days": 30},
        {"post": {"url": URL, "published_at": OLD}},
        "(days allowed: 30)",
    ),
    "premoderated_post": ({"premoderated_posts": [URL]}, {"post": {"url": URL}}, "moderated first"),
    "closed_post": ({"closed_posts": [URL]}, {"post": {"url": URL}}, "are closed"),
}


@pytest.fixture
def classifier():
    return FixedClassifier(0.01)


def judged(api, **comment):
    answer = api.post("/v1/comments?wait=1", json={"text": "A remark", "author": AUTHOR} | comment)
    return answer.get_json()


@pytest.mark.parametrize(("rule", "given", "comment", "says"), [(k, *v) for k, v in RULES.items()])
def test_a_rule_is_previewed_set_and_said_in_the_verdict(api, services, rule, given, comment, says):
    before = judged(api, **comment)
    decide_comment(before["id"], Ruling.REJECT, services, decided_by="Ola")

    preview = api.post("/v1/site/rules/preview", json=given).get_json()
    assert api.get("/v1/site/rules").get_json() == OFF
    answer = api.put("/v1/site/rules", json=given)
    after = judged(api, **comment)

    assert (before["verdict"]["outcome"], before["verdict"]["held_by"]) == ("ham", [])
    assert (preview["seen"], preview["held"], preview["rejected"]) == (1, 1, 1)
    assert preview["by_rule"] == {rule: 1}
    assert answer.get_json() == api.get("/v1/site/rules").get_json() == OFF | given
    assert (after["verdict"]["outcome"], after["action"]) == ("unsure", "hold")
    assert [hit["rule"] for hit in after["verdict"]["held_by"]] == [rule]
    assert says in after["verdict"]["explanation"][0]


def test_an_approved_first_comment_lets_the_second_through(api, services):
    api.put("/v1/site/rules", json={"hold_first_comment": True})
    first = judged(api)
    assert judged(api)["action"] == "hold"

    decide_comment(first["id"], Ruling.APPROVE, services, decided_by="Ola")

    assert judged(api)["action"] == "publish"
    assert judged(api, author={"name": "Someone else"})["action"] == "hold"


def test_everything_wrong_with_rules_is_named_and_nothing_is_set(api, services):
    given = {
        "hold_first_comment": "yes",
        "link_min_approved": 0,
        "link_min_days": 366,
        "max_links": 1.5,
        "max_post_days": "9",
        "premoderated_posts": ["ftp://a.example"],
        "closed_posts": ["https://a.example/" + "x" * 500],
        "x": 1,
    }

    refused = [api.put("/v1/site/rules", json=given)]
    refused.append(api.post("/v1/site/rules/preview", json=given))

    for answer in refused:
        fields = [error["field"].partition(".")[0] for error in answer.get_json()["errors"]]
        assert (answer.status_code, fields) == (422, list(given))
    assert api.get("/v1/site/rules").get_json() == OFF
    assert services.common.audit_log.recent(subject=SITE) == []


def test_a_change_is_in_the_log_with_the_posts_that_it_is_about(api, services):
    api.put("/v1/site/rules", json={"max_links": 2, "closed_posts": [URL, URL]})
    api.put("/v1/site/rules", json={"max_links": 2})

    details = [entry.detail for entry in services.common.audit_log.recent(subject=SITE)]

    assert details == [f"closed_posts: -{URL}", f"max_links: None to 2; closed_posts: +{URL}"]


def test_a_site_sees_its_own_rules_alone(api, app):
    api.put("/v1/site/rules", json={"max_links": 2})

    assert client_with(app, "slop_wrong").get("/v1/site/rules").status_code == 401
    assert app.test_client().put("/v1/site/rules", json={}).status_code == 401


def test_what_rules_need_and_cannot_be_read_holds(api, services, monkeypatch):
    def away(_judged):
        raise StoreUnavailableError("the database is away")

    api.put("/v1/site/rules", json={"hold_first_comment": True})
    monkeypatch.setattr(services.judging.rule_facts, "find", away)

    verdict = judged(api)["verdict"]

    assert [hit["rule"] for hit in verdict["held_by"]] == ["unknown"]
    assert services.common.sites.get(SITE).settings.rules.hold_first_comment
    assert Outcome(verdict["outcome"]) is Outcome.UNSURE
