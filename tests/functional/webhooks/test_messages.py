"""What Discourse, GitHub and Standard Webhooks send, and what is kept of it."""

import copy
import json
from operator import attrgetter
from urllib.parse import urlencode

import pytest

from service.domain.delivery import Applied, Platform
from tests.factories import SITE
from tests.fakes import away
from tests.functional.webhooks import recorded
from tests.functional.webhooks.conftest import all_cases, only_case
from tests.functional.webhooks.recorded import DISCOURSE_POST, GITHUB_ISSUE_COMMENT, STANDARD

WORDS = "The drain valve was stuck here too."
RAW = "The **drain valve** was stuck here too."


def post(**changes):
    payload = copy.deepcopy(DISCOURSE_POST)
    payload["post"].update(changes)
    return payload


def issue_comment(action="created", **changes):
    payload = copy.deepcopy(GITHUB_ISSUE_COMMENT) | {"action": action}
    payload["comment"].update(changes)
    return payload


def edit(text, at="2026-03-01T11:59:00Z"):
    return issue_comment("edited", body=text, updated_at=at) | {"changes": {"body": {"from": "x"}}}


def message(kind="comment.created", *, at="2026-03-01T11:58:00Z", **changes):
    return STANDARD | {"type": kind, "timestamp": at, "data": STANDARD["data"] | changes}


@pytest.fixture
def tell(github, discourse, send):
    """Send an event of a platform; a message is a new one each time."""
    numbers = iter(range(1, 100))
    ways = {
        "github": github,
        "discourse": discourse,
        "standard": lambda payload, _=None: send(
            Platform.STANDARD, payload, message_id=f"msg_{next(numbers)}"
        ),
    }
    return lambda platform, payload, *event: ways[platform](payload, *event)


@pytest.mark.parametrize(
    ("platform", "sent", "expected"),
    [
        (
            "discourse",
            (DISCOURSE_POST,),
            {
                "text": RAW,
                "site_comment_id": "discourse:9021",
                "post.title": "Bleeding a radiator",
                "post.url": "https://forum.example/t/bleeding-a-radiator/310",
                "author.name": "Mara",
                "author.account_id": "77",
                "author.trust_level": 1,
            },
        ),
        (
            "github",
            (GITHUB_ISSUE_COMMENT,),
            {
                "text": WORDS,
                "site_comment_id": "github:IC_kwDONotReal9001",
                "post.title": "radiators/",
                "post.url": "https://github.example/ada/blog-comments/issues/7",
                "post.excerpt": "# Bleeding a radiator\n\nTurn the pump off first.",
                "author.name": "mara-h",
                "author.account_id": "310077",
            },
        ),
        (
            "github",
            (recorded.GITHUB_DISCUSSION_COMMENT, "discussion_comment"),
            {
                "text": WORDS,
                "site_comment_id": "github:DC_kwDONotReal88001",
                "post.url": "https://github.example/ada/blog-comments/discussions/12",
            },
        ),
        (
            "standard",
            (STANDARD,),
            {
                "text": WORDS,
                "site_comment_id": "c-1001",
                "author.name": "Mara",
                "sender.email_domain": "mail.example",
            },
        ),
    ],
    ids=["discourse", "github issue", "github discussion", "standard"],
)
def test_a_comment_is_kept_with_its_post_and_author(tell, services, platform, sent, expected):
    answer = tell(platform, *sent)

    comment = only_case(services).comment
    assert (answer.status_code, answer.get_json()) == (202, {"status": "accepted"})
    assert {name: attrgetter(name)(comment) for name in expected} == expected
    assert comment.sender.account_key or comment.sender.address_key
    assert comment.written_at.isoformat() == "2026-03-01T11:58:00+00:00"


@pytest.mark.parametrize(
    ("platform", "event", "payload"),
    [
        ("discourse", "ping", {"ping": "OK"}),
        ("discourse", "post_created", post(staff=True)),
        ("discourse", "post_created", post(admin=True)),
        ("discourse", "post_created", post(post_type=4)),
        ("discourse", "post_created", post(topic_archetype="private_message")),
        ("discourse", "post_edited", post(updated_at="2026-01-01T00:00:00Z")),
        ("github", "ping", {"zen": "Approachable is better than simple."}),
        ("github", "push", {"ref": "refs/heads/main"}),
        ("github", "issue_comment", issue_comment("pinned")),
        ("github", "issue_comment", issue_comment(author_association="OWNER")),
        ("github", "issue_comment", issue_comment(author_association="MEMBER")),
        ("github", "issue_comment", issue_comment(body="  ")),
        ("github", "issue_comment", issue_comment(updated_at="2026-02-01T00:00:00Z")),
    ],
)
def test_what_is_not_to_be_judged_is_taken_and_let_be(tell, services, platform, event, payload):
    answer = tell(platform, payload, event)

    assert (answer.status_code, answer.get_json()) == (200, {"status": "ignored"})
    assert all_cases(services) == []


CREATED = (GITHUB_ISSUE_COMMENT,)
POSTED = (DISCOURSE_POST,)
REMOVED = (post(deleted_at="2026-03-01T11:59:00.000Z"), "post_destroyed")
GONE = ("", True)
STORIES = {
    "an edit is judged and earlier words forgotten": (
        "github",
        [CREATED, (edit("Cheap sofas"),), (edit("Cheaper sofas", at="2026-03-01T11:59:30Z"),)],
        [GONE, GONE, ("Cheaper sofas", False)],
    ),
    "older versions come late": (
        "github",
        [(edit("Last", at="2026-03-01T11:59:30Z"),), (edit("Not last"),), CREATED],
        [("Last", False)],
    ),
    "a deletion is of every version": (
        "github",
        [CREATED, (edit("Cheap sofas"),), (issue_comment("deleted"),)],
        [GONE, GONE],
    ),
    "a deleted comment does not come back": (
        "github",
        [CREATED, (issue_comment("deleted"),), (edit("Cheap sofas"),)],
        [GONE],
    ),
    "a signed body under another event": (
        "github",
        [(issue_comment("deleted"), "push"), CREATED, (GITHUB_ISSUE_COMMENT, "discussion_comment")],
        [(WORDS, False)],
    ),
    "a post is edited": (
        "discourse",
        [POSTED, (post(raw="Sofas", version=2, updated_at="2026-03-01T11:59:00Z"), "post_edited")],
        [GONE, ("Sofas", False)],
    ),
    "a post is removed and recovered": (
        "discourse",
        [POSTED, REMOVED, (post(version=2), "post_recovered")],
        [GONE, (RAW, False)],
    ),
    "a post is recovered as it was written": (
        "discourse",
        [POSTED, REMOVED, (DISCOURSE_POST, "post_recovered")],
        [GONE, (RAW, False)],
    ),
    "a post is edited back to what it was": (
        "discourse",
        [POSTED, (post(raw="Sofas"), "post_edited"), (DISCOURSE_POST, "post_edited")],
        [GONE, GONE, (RAW, False)],
    ),
    "a post is removed by its author": (
        "discourse",
        [POSTED, (post(user_deleted=True, raw="(post deleted by author)"), "post_edited")],
        [GONE],
    ),
    "a signed body turned into a removal": (
        "discourse",
        [POSTED, (DISCOURSE_POST, "post_destroyed")],
        [(RAW, False)],
    ),
    "a message is edited and deleted": (
        "standard",
        [
            (STANDARD,),
            (message("comment.updated", at="2026-03-01T11:59:00Z", text="Sofas"),),
            ({"type": "comment.deleted", "data": {"site_comment_id": "c-1001"}},),
        ],
        [GONE, GONE],
    ),
    "of two edits the later stays though both tell when it was first written": (
        "standard",
        [
            (message("comment.updated", at=at, text=text, written_at="2026-03-01T09:00:00Z"),)
            for at, text in (("2026-03-01T11:59:30Z", "Last"), ("2026-03-01T11:59:00Z", "First"))
        ],
        [("Last", False)],
    ),
}


@pytest.mark.parametrize(("platform", "events", "expected"), STORIES.values(), ids=STORIES)
def test_edits_and_removals_are_followed(tell, services, platform, events, expected):
    for event in events:
        assert tell(platform, *event).status_code in {200, 202}

    found = [(case.comment.text, case.withdrawn_at is not None) for case in all_cases(services)]
    assert found == expected


def test_a_message_that_comes_again_changes_nothing(github, discourse, send, services):
    for again in (False, True):
        answers = [
            github(GITHUB_ISSUE_COMMENT, guid="g-1"),
            discourse(DISCOURSE_POST, event_id="1"),
            send(Platform.STANDARD, STANDARD, message_id="msg_1"),
            github(GITHUB_ISSUE_COMMENT, guid=f"an invented one {again}"),
        ]

        kept = [{"status": "duplicate" if again else "accepted"}] * 3
        assert [answer.get_json() for answer in answers] == [*kept, {"status": "duplicate"}]

    assert [case.withdrawn_at for case in all_cases(services)] == [None] * 3


def test_a_post_that_a_rejection_deleted_keeps_its_words_until_it_is_recovered(discourse, services):
    discourse(DISCOURSE_POST)
    ours = Applied(site_id=SITE, site_comment_id="discourse:9021", certain=True)
    services.applied.put(ours)

    answer = discourse(*REMOVED)
    kept = only_case(services)
    discourse(post(deleted_at=None, reads=3), "post_recovered")

    assert answer.get_json() == {"status": "ignored"}
    assert kept.withdrawn_at is None
    assert kept.comment.text == RAW
    assert services.applied.get(SITE, "discourse:9021") is None


@pytest.mark.parametrize("forum", ["", "javascript:alert(1)", "https://x.example/" + "u" * 3_000])
def test_without_a_usable_address_of_the_forum_the_post_has_none(send, services, forum):
    headers = {"X-Discourse-Event": "post_created", "X-Discourse-Instance": forum}

    send(Platform.DISCOURSE, DISCOURSE_POST, headers)

    assert only_case(services).comment.post.url is None


def test_a_form_with_the_payload_is_read_as_well(send, services):
    body = urlencode({"payload": json.dumps(GITHUB_ISSUE_COMMENT)}).encode()
    headers = {
        "X-GitHub-Event": "issue_comment",
        "Content-Type": "application/x-www-form-urlencoded",
    }

    assert send(Platform.GITHUB, body, headers).status_code == 202
    assert only_case(services).comment.text == WORDS


def test_a_delivery_that_could_not_be_carried_out_can_be_sent_again(github, services, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(services.comments, "add", away)
        first = github(GITHUB_ISSUE_COMMENT, guid="g-1")
    second, third = (github(GITHUB_ISSUE_COMMENT, guid="g-1") for _ in range(2))

    assert [first.status_code, second.status_code] == [503, 202]
    assert third.get_json() == {"status": "duplicate"}
    assert only_case(services).verdict is not None


def test_what_is_too_long_beside_the_text_is_cut_or_left_out(github, services):
    payload = issue_comment(user={"login": "m" * 1_000, "id": 5}, node_id="N" * 500)
    payload["issue"].update(
        title="t" * 5_000, body="b" * 90_000, html_url="https://x.example/" + "u" * 5_000
    )

    assert github(payload).status_code == 202
    comment = only_case(services).comment
    assert (len(comment.author.name), len(comment.post.title)) == (300, 500)
    assert (len(comment.post.excerpt), comment.post.url) == (4_000, None)
    assert len(comment.site_comment_id) < 100


@pytest.mark.parametrize(
    ("platform", "sent", "status", "fields"),
    [
        ("github", b"", 400, None),
        ("github", b"\xff\xfe", 400, None),
        ("github", b"[" * 100_000, 400, None),
        ("github", b"{}", 422, None),
        ("github", b'{"action":"created","comment":{"id":true,"node_id":7,"body":[]}}', 422, None),
        (
            "standard",
            {"type": "comment.created", "data": {"txt": "x", "address": "here"}},
            422,
            {"text", "site_comment_id", "txt", "address"},
        ),
        ("standard", message(keep=False, address="q"), 422, {"keep", "address"}),
        # It reads like a later version of another comment.
        ("standard", message(site_comment_id="c-1001@2"), 422, {"site_comment_id"}),
        *(
            ("standard", {"type": "comment.deleted", "data": data}, 422, None)
            for data in (None, [], "c-1", {}, {"site_comment_id": ""})
        ),
    ],
)
def test_a_signed_body_that_cannot_be_read_is_refused_without_a_fault(
    tell, services, platform, sent, status, fields
):
    answer = tell(platform, sent)

    assert answer.status_code == status
    assert all_cases(services) == []
    if fields:
        assert {error["field"] for error in answer.get_json()["errors"]} == fields
