"""What a site shows, as the data files that builds of static sites read."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from service.commands.transfer import BUILDS, as_data_file
from service.domain.comment import CommentId
from service.domain.published import PublishedComment
from tests.factories import NOW

BLOG = "https://blog.example/notes/"


def shown(name: str, post: str | None, *, hours: int = 0, reply_to: str | None = None):
    return PublishedComment(
        id=CommentId(name),
        text="One.\n\n<b>",
        at=NOW + timedelta(hours=hours),
        post_url=post,
        reply_to=reply_to,
    )


def read(comments, build: str, blog: str | None = BLOG):
    return json.loads("".join(as_data_file(comments, blog, BUILDS[build])))


@pytest.mark.parametrize(
    ("build", "paths"),
    [
        ("hugo", {"/notes/", "/notes/%C3%BCber/", "/notesbook/"}),
        ("jekyll", {"/", "/%C3%BCber/", "/notesbook/"}),
        ("eleventy", {"/", "/über/", "/notesbook/"}),
    ],
)
def test_a_post_is_found_by_what_its_build_calls_it(build, paths):
    posts = ("", "%C3%BCber/?from=feed#end")
    comments = [shown(f"c{number}", BLOG + post) for number, post in enumerate(posts)]
    comments.append(shown("c9", "https://blog.example/notesbook/"))

    assert read(comments, build).keys() == paths


def test_threads_stand_in_their_order_and_tell_how_deep():
    post = "https://blog.example/p/"
    comments = [
        shown("late", post, hours=9),
        shown("b", post, hours=2, reply_to="a"),
        shown("c", post, hours=3, reply_to="b"),
        shown("a", post),
        shown("d", post, hours=4, reply_to="a"),
        shown("gone", post, hours=1, reply_to="nowhere"),
        # Each answers the other, as only a broken import says.
        shown("x", post, hours=5, reply_to="y"),
        shown("y", post, hours=6, reply_to="x"),
        shown("self", post, hours=7, reply_to="self"),
    ]

    (rows,) = read(comments, "jekyll").values()

    assert [(one["id"], one["depth"]) for one in rows] == [
        ("a", 0),
        ("b", 1),
        ("c", 2),
        ("d", 1),
        ("gone", 0),
        ("x", 0),
        ("y", 1),
        ("self", 0),
        ("late", 0),
    ]
    assert rows[0]["html"] == "<p>One.</p><p>&lt;b&gt;</p>"


def test_no_character_ends_a_build():
    odd = "".join(map(chr, (0, 0x1F, 0x7F, 0x85, 0x9F, 0x2028, 0xFEFF, 0xFFFE, 0xFFFF, 0x1F600)))
    one = PublishedComment(id=CommentId("c1"), text=odd, at=NOW, post_url=f"/p{odd}/")

    file = "".join(as_data_file([one], BLOG, BUILDS["hugo"]))

    # As YAML has it, which Jekyll reads.
    yaml = r"[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
    assert re.fullmatch(yaml, file)
    ((row,),) = json.loads(file).values()
    assert row["text"] == odd
