"""Whoever manages a site sets its rules on a page, previews them, and reads why they held."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Lane, Post, Sender
from service.domain.decision import Ruling
from service.domain.rules import SiteRules
from service.domain.user import Role
from service.moderation.review.decide import decide_comment
from tests.factories import NOW, SITE, make_comment
from tests.fakes import FixedClassifier, make_services, submit_to
from tests.functional.moderators import signed_in, token_of, words

PAGE = f"/sites/{SITE}/rules"
POST = "https://blog.example/p/1"
LINK = "See https://boilers.example/a."
OLD = Post(url=POST, published_at=NOW - timedelta(days=40))
# A field, what is typed, a comment that is held, the reason, and the same in German.
RULES = {
    "hold_first_comment": ("on", {}, "no approved comment here", "keinen freigegebenen Kommentar"),
    "link_min_approved": ("2", {"text": LINK}, "(fewer than 2)", "(weniger als 2)"),
    "link_min_days": ("7", {"text": LINK}, "(days asked for: 7)", "(verlangte Tage: 7)"),
    "max_links": ("0", {"text": LINK}, "(more than 0)", "(mehr als 0)"),
    "max_post_days": ("30", {"post": OLD}, "(days allowed: 30)", "(erlaubte Tage: 30)"),
    "premoderated_posts": (f"\r\n{POST}\r\n", {}, "are moderated first", "vorab moderiert"),
    "closed_posts": (POST, {}, "are closed", "geschlossen"),
}


@pytest.fixture
def services():
    return make_services(classifier=FixedClassifier(0.01))


@pytest.fixture
def client(services):
    client = signed_in(services)
    [user] = services.accounts.users.all()
    services.accounts.users.replace(replace(user, role=Role.OWNER))
    return client


def post(client, **form):
    return client.post(PAGE, data={"csrf_token": token_of(client.get("/password")), **form})


def send(services, **changes):
    comment = make_comment(sender=Sender(account_key="mara"), **changes)
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    return comment.id


@pytest.mark.parametrize(("field", "given"), RULES.items())
def test_a_rule_is_previewed_saved_and_read_at_a_comment(services, client, field, given):
    typed, changes, reason, german = given
    decide_comment(send(services, **changes), Ruling.REJECT, services, decided_by="Kim")

    preview = post(client, act="preview", **{field: typed})
    before = services.common.sites.get(SITE).settings.rules
    saved = post(client, act="save", **{field: typed})
    shown, again = client.get(saved.location), client.get(saved.location)
    held = f"/review/comments/{send(services, **changes)}?show=all"

    assert "would have held 1 of 1 comments" in words(preview)
    assert "rejected 1 and approved 0" in words(preview)
    assert before == SiteRules()
    assert services.common.sites.get(SITE).settings.rules != SiteRules()
    assert "The rules are saved" in shown.text
    assert "The rules are saved" not in again.text
    entry = services.common.audit_log.recent(subject=SITE)[0]
    assert (entry.actor, entry.act) == ("Ola", "change settings")
    assert entry.detail.startswith(field)
    assert "Held by a rule of this site" in words(client.get(held))
    assert reason in words(client.get(held))
    assert german in words(client.get(held, headers={"Accept-Language": "de"}))


def test_a_wrong_field_is_named_once_and_stays_as_typed(services, client):
    typed = dict.fromkeys(("link_min_approved", "link_min_days", "max_links"), "1.5")
    posts = "ftp://a.example\nftp://b.example\n<script>"

    answer = post(client, act="save", max_post_days="0", closed_posts=posts, **typed)

    assert answer.status_code == 400
    assert answer.text.count('class="problem"') == 5
    assert answer.text.count('value="1.5"') == 3
    assert "<script>" not in answer.text.partition("<main")[2]
    assert services.common.sites.get(SITE).settings.rules == SiteRules()


def test_what_somebody_else_set_since_the_page_was_shown_stays(services, client):
    meanwhile = SiteRules(max_links=2, closed_posts=(POST,))
    services.common.sites.change_settings(SITE, lambda now: replace(now, rules=meanwhile))

    post(client, act="save", link_min_days="3", was_link_min_days="")

    rules = services.common.sites.get(SITE).settings.rules
    assert rules == replace(meanwhile, link_min_days=3)


def test_the_page_is_for_those_who_manage_the_site(services, client):
    [user] = services.accounts.users.all()
    services.accounts.users.replace(replace(user, role=Role.MODERATOR))

    assert client.get(PAGE).status_code == 403
    assert post(client, act="save", max_links="1").status_code == 403
    assert client.post(PAGE, data={"max_links": "1"}).status_code == 403
    assert services.common.sites.get(SITE).settings.rules == SiteRules()
