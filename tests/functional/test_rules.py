"""A site's rules are previewed, set and read at what they held, by the API and on a page."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.report import Label
from service.domain.rules import SiteRules
from service.domain.user import Role
from service.moderation.review.decide import decide_comment
from service.moderation.telling.plain_answer import plain_answer
from service.web.edge.moments import write_moment
from tests.factories import NOW, SITE
from tests.fakes import FixedClassifier
from tests.functional.moderators import signed_in, token_of, words

URL = "https://blog.example/p/1"
PAGE = f"/sites/{SITE}/rules"
LINK = {"text": "See https://boilers.example/a."}
OLD = {"post": {"url": URL, "published_at": write_moment(NOW - timedelta(days=40))}}
POST = {"post": {"url": URL}}
AUTHOR = {"name": "Mara", "email": "mara@example.org"}
# The field, its value, a comment that it holds, the rule, and the reason in both languages.
RULES = [
    ("hold_first_comment", True, {}, "first_comment", "no approved comment", "freigegebenen"),
    ("link_min_approved", 2, LINK, "newcomer_links", "author is new here", "ist neu hier"),
    ("link_min_days", 7, LINK, "newcomer_links", "author is new here", "ist neu hier"),
    ("max_links", 0, LINK, "many_links", "too many links", "zu viele Links"),
    ("max_post_days", 30, OLD, "old_post", "post is too old", "zu alt"),
    ("premoderated_posts", [URL], POST, "premoderated_post", "moderated first", "vorab moderiert"),
    ("closed_posts", [URL], POST, "closed_post", "are closed", "geschlossen"),
]
each_rule = pytest.mark.parametrize(
    ("name", "value", "comment", "rule", "reason", "german"), RULES, ids=[one[0] for one in RULES]
)


@pytest.fixture
def classifier():
    return FixedClassifier(0.01)


@pytest.fixture
def client(services, app):
    client = signed_in(services, app=app)
    restrict(services, Role.OWNER)
    return client


def restrict(services, role):
    [user] = services.accounts.users.all()
    services.accounts.users.replace(replace(user, role=role))


def rules_of(services):
    return services.common.sites.get(SITE).settings.rules


def judged(api, **comment):
    given = {"text": "A remark", "author": AUTHOR} | comment
    return api.post("/v1/comments?wait=1", json=given).get_json()


def rejected(api, services, comment):
    decide_comment(judged(api, **comment)["id"], Ruling.REJECT, services, decided_by="Kim")


def post(client, **form):
    return client.post(PAGE, data={"csrf_token": token_of(client.get("/password")), **form})


@each_rule
def test_by_the_api(api, services, name, value, comment, rule, reason, german):
    rejected(api, services, comment)

    preview = api.post("/v1/site/rules/preview", json={name: value}).get_json()
    before = api.get("/v1/site/rules").get_json()
    answer = api.put("/v1/site/rules", json={name: value}).get_json()
    held = judged(api, **comment)

    assert (preview["seen"], preview["held"], preview["rejected"]) == (1, 1, 1)
    assert preview["by_rule"] == {rule: 1}
    assert answer == api.get("/v1/site/rules").get_json() == before | {name: value} != before
    assert (held["verdict"]["outcome"], held["action"]) == ("unsure", "hold")
    assert held["verdict"]["held_by"] == [rule]
    assert reason in held["verdict"]["explanation"][0]
    # What is no campaign's is rejected with none.
    assert services.clusters.campaigns.fresh(limit=9) == []
    case = services.review.cases.get(held["id"])
    passing = replace(services.common.sites.get(SITE).settings, holds_unsure=False)
    assert plain_answer(case, passing) is Label.SPAM


@each_rule
def test_on_the_page(api, services, client, name, value, comment, rule, reason, german):
    rejected(api, services, comment)
    form = {name: f"\r\n{value[0]}\r\n" if isinstance(value, list) else str(value)}

    preview = words(post(client, act="preview", **form))
    before = rules_of(services)
    saved = post(client, act="save", **form)
    shown, again = client.get(saved.location), client.get(saved.location)
    held = f"/review/comments/{judged(api, **comment)['id']}?show=all"

    assert "would have held 1 of 1 comments" in preview
    assert "rejected 1 and approved 0" in preview
    assert before == SiteRules()
    assert "The rules are saved" in shown.text
    assert "The rules are saved" not in again.text
    entry = services.common.audit_log.recent(subject=SITE)[0]
    assert (entry.actor, entry.act) == ("Ola", "change settings")
    assert entry.detail.startswith(name)
    assert reason in words(client.get(held))
    assert german in words(client.get(held, headers={"Accept-Language": "de"}))


def test_an_approved_first_comment_lets_the_next_through(api, services):
    api.put("/v1/site/rules", json={"hold_first_comment": True})
    first, second = judged(api), judged(api)

    decide_comment(first["id"], Ruling.APPROVE, services, decided_by="Kim")

    assert second["action"] == "hold"
    assert judged(api)["action"] == "publish"
    assert judged(api, author={"name": "Someone else"})["action"] == "hold"
    given = {"hold_first_comment": True}
    preview = api.post("/v1/site/rules/preview", json=given).get_json()
    assert (preview["seen"], preview["held"], preview["approved"]) == (4, 2, 1)


def test_everything_wrong_is_named_and_nothing_is_set(api, services, client):
    numbers = dict.fromkeys(("link_min_approved", "link_min_days", "max_links"), 1.5)
    posts = {
        "premoderated_posts": ["ftp://a.example", "ftp://<script>"],
        "closed_posts": ["https://a.example/" + "x" * 500],
    }
    given = {"hold_first_comment": "yes", **numbers, "max_post_days": 0, **posts, "x": 1}

    for answer in (
        api.put("/v1/site/rules", json=given),
        api.post("/v1/site/rules/preview", json=given),
    ):
        fields = [error["field"].partition(".")[0] for error in answer.get_json()["errors"]]
        assert (answer.status_code, list(dict.fromkeys(fields))) == (422, list(given))
    lines = {name: "\n".join(urls) for name, urls in posts.items()}
    page = post(client, act="save", max_post_days="0", **numbers, **lines)
    assert (page.status_code, page.text.count('class="problem"')) == (400, 6)
    assert "<script>" not in page.text.partition("<main")[2]
    assert rules_of(services) == SiteRules()
    assert services.common.audit_log.recent(subject=SITE) == []


def test_the_log_names_the_posts_that_a_change_is_about(api, services):
    api.put("/v1/site/rules", json={"max_links": 2, "closed_posts": [URL, URL]})
    api.put("/v1/site/rules", json={"max_links": 2})

    details = [entry.detail for entry in services.common.audit_log.recent(subject=SITE)]

    assert details == [f"closed_posts: -{URL}", f"max_links: None to 2; closed_posts: +{URL}"]


def test_what_somebody_else_set_since_the_page_was_shown_stays(services, client):
    was = dict(re.findall(r'name="(was_\w+)" value="([^"]*)"', client.get(PAGE).text))
    meanwhile = SiteRules(max_links=2, closed_posts=(URL,))
    services.common.sites.change_settings(SITE, lambda now: replace(now, rules=meanwhile))

    shown = post(client, act="preview", link_min_days="3", **was)
    post(client, act="save", link_min_days="3", **was)

    assert f'name="was_max_links" value="{was["was_max_links"]}"' in shown.text
    assert rules_of(services) == replace(meanwhile, link_min_days=3)


def test_only_those_who_manage_the_site_see_and_set_them(services, client, stranger):
    assert client.post(PAGE, data={"max_links": "1"}).status_code == 403
    restrict(services, Role.MODERATOR)
    assert client.get(PAGE).status_code == 403
    assert post(client, act="save", max_links="1").status_code == 403
    assert stranger.put("/v1/site/rules", json={}).status_code == 401
    assert rules_of(services) == SiteRules()


def test_what_rules_need_and_cannot_be_read_holds(api, services, monkeypatch):
    def away(_judged):
        raise StoreUnavailableError("the database is away")

    api.put("/v1/site/rules", json={"hold_first_comment": True})
    monkeypatch.setattr(services.judging.rule_facts, "find", away)

    assert judged(api)["verdict"]["held_by"] == ["unknown"]
