"""https://github.com/ngrok/webhooks.fyi/issues/52: a deletion overtakes its comment.

With https://github.com/huggingface/hub-docs/pull/2749.
"""

import copy
from datetime import timedelta
from functools import partial

import pytest

from service.domain.delivery import Platform
from service.moderation.erasing import prune_comments
from tests.factories import NOW
from tests.functional.webhooks.conftest import all_cases
from tests.functional.webhooks.recorded import DISCOURSE_POST, GITHUB_ISSUE_COMMENT, STANDARD


def standard(send, kind, at="2026-03-01T11:58:00Z", **data):
    sent = copy.deepcopy(STANDARD) | {"type": kind, "timestamp": at}
    sent["data"] = data or sent["data"]
    return send(Platform.STANDARD, sent, message_id=f"msg-{kind}-{at}")


def by_standard(send, *, deleted, **changes):
    if deleted:
        return standard(
            send, "comment.deleted", site_comment_id="c-1001", at="2026-03-01T12:00:00Z"
        )
    return standard(send, "comment.created", **STANDARD["data"] | changes)


def by_github(send, *, deleted):
    sent = GITHUB_ISSUE_COMMENT | {"action": "deleted" if deleted else "created"}
    return send(Platform.GITHUB, sent, {"X-GitHub-Event": "issue_comment"})


def by_discourse(send, *, deleted, event="post_created", **later):
    event = "post_destroyed" if deleted else event
    at = {"deleted_at": "2026-03-01T11:59:00.000Z" if deleted else None}
    sent = {"post": DISCOURSE_POST["post"] | (at if deleted else at | later)}
    return send(Platform.DISCOURSE, sent, {"X-Discourse-Event": event})


EDITED = {"deleted_at": "2026-03-01T11:59:00Z", "updated_at": "2026-03-01T11:59:30Z"}
WAYS = [partial(by_discourse, event=f"post_{done}", **EDITED) for done in ("created", "edited")]
WAYS += [by_standard, partial(by_standard, written_at="2026-03-01T13:30:00Z")]


@pytest.mark.parametrize("deliver", [by_github, by_discourse, *WAYS])
def test_a_comment_that_was_deleted_before_it_came_is_not_kept(send, services, deliver):
    gone = deliver(send, deleted=True)
    created = deliver(send, deleted=False)

    assert [gone.status_code, created.status_code] == [202, 202]
    assert all_cases(services) == []


def test_what_is_written_later_under_the_same_id_is_judged(send, services):
    standard(send, "comment.deleted", at="2026-03-01T11:57:00Z", site_comment_id="c-1001")
    standard(send, "comment.created")

    assert [case.comment.text for case in all_cases(services)] == [STANDARD["data"]["text"]]


def test_a_post_that_is_recovered_is_judged(send, services):
    by_discourse(send, deleted=True)
    back = {"post": DISCOURSE_POST["post"] | {"version": 2}}
    send(Platform.DISCOURSE, back, {"X-Discourse-Event": "post_recovered"})

    assert [case.withdrawn_at for case in all_cases(services)] == [None]


def test_the_api_takes_a_deletion_by_the_sites_own_id(api, services):
    first = api.delete("/v1/comments?site_comment_id=wp-7")
    written = {"site_comment_id": "wp-7", "text": "Thanks!", "written_at": "2026-03-01T11:58:00Z"}
    created = api.post("/v1/comments?wait=5", json=written)
    ahead = written | {"written_at": "2026-03-02T02:00:00Z"}
    batch = api.post("/v1/comments/batch", json={"comments": [ahead]})
    other = api.post("/v1/comments", json=written | {"site_comment_id": "wp-8"})
    last = api.delete("/v1/comments?site_comment_id=wp-8")

    assert (first.status_code, first.get_json()) == (200, {"withdrawn": 0})
    problem = created.get_json()
    [refused] = batch.get_json()["results"]
    assert (created.status_code, problem["type"]) == (410, "/docs#problem-gone")
    assert (refused["status"], refused["id"], refused["links"]) == (410, None, None)
    assert (refused["site_comment_id"], refused["problem"]) == ("wp-7", problem)
    assert (other.status_code, last.get_json()) == (202, {"withdrawn": 1})
    assert [case.comment.text for case in all_cases(services)] == [""]


def test_deletions_are_forgotten_after_a_month(send, services, clock):
    by_standard(send, deleted=True)
    clock.now = NOW + timedelta(days=31)
    prune_comments(services, keep=None, keep_spam=None, keep_held_spam=None)
    clock.now = NOW
    by_standard(send, deleted=False)

    assert len(all_cases(services)) == 1
