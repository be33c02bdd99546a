"""What anybody may read of a static site's comments."""

from datetime import timedelta

import pytest

from service.domain.comment import Author, Post
from service.domain.decision import Ruling
from service.domain.delivery import Platform
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment
from tests.factories import NOW, keep_one
from tests.functional.hostile import HOSTILE
from tests.functional.moderators import set_site
from tests.functional.test_every_page import Seen
from tests.functional.webhooks.conftest import add_hook, only_case

BLOG = "https://blog.example/"
POST = "https://blog.example/radiators/"
OWN = {"Origin": "https://blog.example"}


@pytest.fixture
def path(services):
    set_site(services, blog=BLOG, public_feed=True)
    return f"/public/{add_hook(services, Platform.STATIC_FORM, secret='')}/comments"


def keep(services, outcome: Outcome | None = Outcome.HAM, text: str = "Hi.", **changes):
    return keep_one(services, outcome, text=text, **({"post": Post(url=POST)} | changes))


def read(client, path, post: str = POST):
    answer = client.get(path, query_string={"post": post})
    assert answer.status_code == 200, answer.text
    return answer.get_json()["comments"]


def test_a_comment_is_shown_with_what_was_typed_to_be_shown(path, stranger, services):
    kept = keep(
        services,
        text='One.\n\nTwo\nthree <b> <a href="https://x.example">&x</a>',
        received_at=NOW - timedelta(days=3),
        author=Author(name="Mara", url="https://mara.example/"),
    )

    assert read(stranger, path) == [
        {
            "id": kept,
            "post_url": POST,
            "author": "Mara",
            "author_url": "https://mara.example/",
            "at": (NOW - timedelta(days=3)).isoformat(timespec="milliseconds"),
            "text": 'One.\n\nTwo\nthree <b> <a href="https://x.example">&x</a>',
            "html": "<p>One.</p><p>Two<br>three &lt;b&gt; &amp;x (https://x.example)</p>",
            "reply_to": None,
            "reply_to_hidden": False,
        }
    ]


def test_who_sent_it_is_never_told(path, stranger, services):
    form = {"text": "Hi.", "name": "mara@mail.example", "email": "mara@mail.example"}
    stranger.post(
        path.replace("/public", "/hooks").removesuffix("/comments"),
        data=form | {"url": "mailto:mara@mail.example", "post_url": POST},
        headers=OWN,
    )
    decide_comment(only_case(services).comment.id, Ruling.APPROVE, services, decided_by="ada")

    answers = [stranger.get(where, query_string={"post": POST}) for where in both(path)]

    assert len(answers[0].get_json()["comments"]) == 1
    for answer in answers:
        assert "mail.example" not in answer.text
        assert "127.0.0.1" not in answer.text


def test_nothing_is_shown_until_the_owner_switches_it_on(path, stranger, services):
    keep(services)
    set_site(services, public_feed=False)

    for where in both(path):
        answer = stranger.get(where, query_string={"post": POST}, headers=OWN)

        assert answer.status_code == 404
        assert "--public-feed" in answer.get_json()["detail"]
        assert answer.headers["Access-Control-Allow-Origin"] == OWN["Origin"]


def test_a_revoked_hook_or_one_of_another_kind_shows_nothing(path, stranger, services):
    other = add_hook(services, Platform.GITHUB)
    services.inbound.revoke("hook_static-form", at=NOW)

    for hook in ("hook_static-form", other, "no-such", "%00", "x" * 300):
        for what in ("comments", "form.js", "form-token"):
            answer = stranger.get(f"/public/{hook}/{what}", query_string={"post": POST})
            assert answer.status_code == 404, (hook, what)


@pytest.mark.parametrize(
    ("kept", "asked", "is_known"),
    [
        ("https://blog.example/radiators", POST, True),
        ("http://www.blog.example/radiators/", POST, True),
        (POST, "/radiators", True),
        (POST, f"{POST}#comments", True),
        ("https://blog.example/?p=7", "https://www.blog.example/?p=7", True),
        (f"{BLOG}o'brien-%c3%bc/", f"{BLOG}o%27brien-ü", True),
        (f"{BLOG}?tag=a%2Bb", f"{BLOG}?tag=a+b", False),
        (POST, "https://blog.example/radiators/2", False),
        (POST, "https://evil.example/radiators/", False),
        (POST, "https://[", False),
        (POST, "https://blog.example:99999/radiators/", False),
        (POST, "\x00", False),
    ],
)
def test_a_post_is_known_by_its_usual_addresses_alone(
    path, stranger, services, kept, asked, is_known
):
    comment = keep(services, post=Post(url=kept))

    assert [one["id"] for one in read(stranger, path, asked)] == [comment] * is_known


@pytest.mark.parametrize(
    ("query", "field"),
    [({}, "post"), ({"post": ""}, "post"), ({"post": POST, "page": "0"}, "page"),
     ({"post": POST, "pge": "1"}, "pge"), ({"post": "a" * 3_000}, "post")],
)  # fmt: skip
def test_a_wrong_question_is_refused_by_name(path, stranger, query, field):
    answer = stranger.get(path, query_string=query, headers=OWN)

    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == [field]
    assert answer.headers["Access-Control-Allow-Origin"] == OWN["Origin"]


def test_an_unchanged_answer_is_not_sent_again(path, stranger, services):
    keep(services)
    for where in both(path):
        first = stranger.get(where, query_string={"post": POST}, headers=OWN)
        again = {**OWN, "If-None-Match": first.headers["ETag"]}

        unchanged = stranger.get(where, query_string={"post": POST}, headers=again)

        assert first.headers["Cache-Control"] == "public, max-age=60"
        assert "Set-Cookie" not in first.headers
        assert (unchanged.status_code, unchanged.data) == (304, b"")
        assert unchanged.headers["Access-Control-Allow-Origin"] == OWN["Origin"]
        assert "Origin" in unchanged.headers["Vary"]


def test_scripts_and_frames_of_other_pages_are_kept_out(path, stranger, services):
    foreign = stranger.get(
        path, query_string={"post": POST}, headers={"Origin": "https://evil.example"}
    )
    framed = stranger.get(f"{path}.html", query_string={"post": POST})

    policy = framed.headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in foreign.headers
    assert "frame-ancestors https://blog.example https://www.blog.example" in policy
    assert "X-Frame-Options" not in framed.headers
    assert "default-src 'none'" in policy


def test_hostile_words_and_names_are_shown_as_words(path, stranger, services):
    for text in HOSTILE.values():
        keep(services, text=text, author=Author(name=text[:300], url=text[:2_000]))

    shown = read(stranger, path)
    page = stranger.get(f"{path}.html", query_string={"post": POST}).text

    assert len(shown) == len(HOSTILE)
    assert {one["author_url"][:7] for one in shown if one["author_url"]} <= {"https:/", "http://"}
    assert [one for one in Seen(page).foreign if not one.startswith(("a href=http", "br"))] == []
    for one in shown:
        assert set(Seen(one["html"]).foreign) <= {"br"}


def both(path: str) -> tuple[str, str]:
    """Return where comments are read as JSON, and as a page."""
    return path, f"{path}.html"
