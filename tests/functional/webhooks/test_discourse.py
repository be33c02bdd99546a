"""Discourse's posts, edited, removed and brought back."""

from __future__ import annotations

import copy

import pytest

from service.domain.applying import Applied
from service.domain.inbound import Platform
from tests.factories import SITE
from tests.functional.webhooks.conftest import all_cases, only_case
from tests.functional.webhooks.recorded import DISCOURSE_POST


def post(**changes):
    payload = copy.deepcopy(DISCOURSE_POST)
    payload["post"].update(changes)
    return payload


def test_a_post_is_kept_as_it_was_typed(discourse, services):
    answer = discourse(DISCOURSE_POST)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert comment.text == "The **drain valve** was stuck here too."
    assert comment.site_comment_id == "discourse:9021"
    assert comment.post.title == "Bleeding a radiator"
    assert comment.post.url == "https://forum.example/t/bleeding-a-radiator/310"
    assert (comment.author.name, comment.author.account_id) == ("Mara", "77")
    assert comment.author.trust_level == 1
    assert comment.sender.account_key is not None


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("ping", {"ping": "OK"}),
        ("topic_created", {"topic": {"id": 1}}),
        ("post_created", post(staff=True)),
        ("post_created", post(moderator=True)),
        ("post_created", post(admin=True)),
        ("post_created", post(post_type=4)),
        ("post_created", post(topic_archetype="private_message")),
        ("post_edited", post(updated_at="2026-01-01T00:00:00Z")),
    ],
    ids=["ping", "topic", "staff", "moderator", "admin", "whisper", "message", "long ago"],
)
def test_what_is_not_to_be_judged_is_taken_and_let_be(discourse, services, event, payload):
    answer = discourse(payload, event)

    assert (answer.status_code, answer.get_json()) == (200, {"status": "ignored"})
    assert all_cases(services) == []


def test_an_edit_is_judged_again(discourse, services):
    discourse(DISCOURSE_POST)
    discourse(
        post(raw="Cheap sofas", version=2, updated_at="2026-03-01T11:59:00.000Z"), "post_edited"
    )

    assert [case.comment.text for case in all_cases(services)] == ["", "Cheap sofas"]


def test_a_removed_post_is_withdrawn_and_judged_again_when_it_comes_back(discourse, services):
    discourse(DISCOURSE_POST)
    discourse(post(deleted_at="2026-03-01T11:59:00.000Z"), "post_destroyed")
    removed = all_cases(services)
    discourse(post(version=2), "post_recovered")

    assert [case.withdrawn_at is not None for case in removed] == [True]
    assert [case.withdrawn_at is not None for case in all_cases(services)] == [True, False]
    assert all_cases(services)[1].comment.text == "The **drain valve** was stuck here too."


def test_a_post_that_a_rejection_deleted_keeps_its_words_until_it_is_recovered(discourse, services):
    discourse(DISCOURSE_POST)
    ours = Applied(site_id=SITE, site_comment_id="discourse:9021", certain=True)
    services.telling.applied.put(ours)

    answer = discourse(post(deleted_at="2026-03-01T11:59:00.000Z"), "post_destroyed")
    kept = only_case(services)
    discourse(post(deleted_at=None, reads=3), "post_recovered")

    assert answer.get_json() == {"status": "ignored"}
    assert kept.withdrawn_at is None
    assert kept.comment.text == "The **drain valve** was stuck here too."
    assert services.telling.applied.get(SITE, "discourse:9021") is None


def test_a_post_that_its_author_removed_is_withdrawn(discourse, services):
    discourse(DISCOURSE_POST)
    discourse(post(user_deleted=True, raw="(post deleted by author)"), "post_edited")

    assert only_case(services).withdrawn_at is not None


def test_a_signed_body_cannot_be_turned_into_a_removal(discourse, services):
    discourse(DISCOURSE_POST)

    answer = discourse(DISCOURSE_POST, "post_destroyed", event_id="invented")

    assert answer.get_json() == {"status": "duplicate"}
    assert only_case(services).withdrawn_at is None


@pytest.mark.parametrize("forum", ["", "javascript:alert(1)", "https://x.example/" + "u" * 3_000])
def test_without_a_usable_address_of_the_forum_the_post_has_none(send, services, forum):
    send(
        Platform.DISCOURSE,
        DISCOURSE_POST,
        {"X-Discourse-Event": "post_created", "X-Discourse-Instance": forum},
    )

    assert only_case(services).comment.post.url is None
