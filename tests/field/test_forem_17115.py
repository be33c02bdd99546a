"""https://github.com/forem/forem/issues/17115: replies lose the comment that they answer.

With https://github.com/WebDevSimplified/nested-comments/issues/2.
"""

import json

import pytest

from service.commands.transfer import BUILDS, as_data_file
from service.domain.comment import Post
from service.domain.delivery import Platform
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.moderation.published import list_published
from service.moderation.revise import withdraw_comment
from tests.factories import SITE, keep_one
from tests.functional.webhooks.conftest import add_hook

POST = "https://blog.example/radiators/"
HIDDEN = "in reply to a comment that is not shown"


@pytest.fixture
def box(services):
    blog = SiteSettings(blog="https://blog.example/", public_feed=True)
    services.sites.change_settings(SITE, lambda _: blog)
    return f"/public/{add_hook(services, Platform.STATIC_FORM, secret='')}/comments"


def keep(services, own_id: str, *, reply_to: str | None = None, outcome=Outcome.HAM):
    post = Post(url=POST)
    return keep_one(services, outcome, site_comment_id=own_id, reply_to=reply_to, post=post)


def rows(services, client, box):
    """Return the parents of replies, which are the same in the feed and the file for a build."""
    shown = client.get(box, query_string={"post": POST}).get_json()["comments"]
    site = services.sites.get(SITE)
    page, _ = list_published(site, POST, services, page=1)
    (built,) = json.loads("".join(as_data_file(page, None, BUILDS["hugo"]))).values()
    told = {one["id"]: (one["reply_to"], one["reply_to_hidden"]) for one in shown}
    assert {one["id"]: (one["reply_to"], one["reply_to_hidden"]) for one in built} == told
    return told


@pytest.mark.parametrize("outcome", [Outcome.UNSURE, Outcome.SPAM])
def test_a_reply_to_a_withheld_comment_says_so(services, stranger, box, outcome):
    parent = keep(services, "wp-1", outcome=outcome)
    reply = keep(services, "wp-2", reply_to="wp-1")

    assert rows(services, stranger, box) == {reply: (parent, True)}
    assert HIDDEN in stranger.get(f"{box}.html", query_string={"post": POST}).text


def test_a_reply_to_a_shown_comment_names_it(services, stranger, box):
    parent = keep(services, "wp-1")
    reply = keep(services, "wp-2", reply_to="wp-1")
    by_our_id = keep(services, "wp-3", reply_to=parent)

    told = rows(services, stranger, box)

    assert told == {parent: (None, False), reply: (parent, False), by_our_id: (parent, False)}
    assert HIDDEN not in stranger.get(f"{box}.html", query_string={"post": POST}).text


def test_a_reply_to_an_edited_comment_names_its_newest_version(services, stranger, box):
    first = keep(services, "wp-1")
    second = keep(services, "wp-1@2")
    withdraw_comment(first, services, by="test")
    reply = keep(services, "wp-2", reply_to="wp-1")

    assert rows(services, stranger, box)[reply] == (second, False)


@pytest.mark.parametrize("gone", ["deleted", "unknown"])
def test_a_reply_to_what_is_gone_says_so(services, stranger, box, gone):
    parent = keep(services, "wp-1") if gone == "deleted" else "wp-1"
    if gone == "deleted":
        withdraw_comment(parent, services, by="test")
    reply = keep(services, "wp-2", reply_to="wp-1")

    assert rows(services, stranger, box) == {reply: (parent, True)}


def test_no_comment_answers_itself(services, stranger, box):
    own = keep(services, "wp-1", reply_to="wp-1")

    assert rows(services, stranger, box) == {own: (None, False)}
