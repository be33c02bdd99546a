"""Moderators order the queue, make rows lower, and see what a comment answers."""

from __future__ import annotations

import re

import pytest

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.moderation.review.decide import decide_comment
from tests.factories import make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep


@pytest.fixture
def services():
    made = make_services()
    made.sites.add(make_site(id="site-2", name="Another blog"))
    return made


def test_a_comment_stands_below_those_that_it_answers(services, client):
    first = make_comment(
        "How long does it take?", site_comment_id="1", author=Author(name="Ann <b>")
    )
    second = make_comment("About a day.", site_comment_id="2", reply_to="1")
    third = make_comment("Thank you both.", site_comment_id="3", reply_to="2")
    for one in (first, second, third):
        keep(services, one)
    decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")

    page = client.get(f"/review/comments/{third.id}").text

    thread = re.search(r'<ol class="thread".*?</ol>', page, re.DOTALL)[0]
    assert re.findall(r"<p dir=\"auto\">(.*?)</p>", thread) == [
        "How long does it take?",
        "About a day.",
    ]
    assert "Ann &lt;b&gt;" in thread
    assert "approved" in thread
    assert thread.count(f"/review/comments/{first.id}") == 1


def test_a_thread_that_loops_or_leads_nowhere_ends(services, client):
    one = make_comment("One", site_comment_id="1", reply_to="2")
    two = make_comment("Two", site_comment_id="2", reply_to="1")
    lost = make_comment("Lost", site_comment_id="3", reply_to="nowhere")
    # Another site's numbers are its own.
    other = make_comment("Other", site_id="site-2", site_comment_id="4", reply_to="1")
    for comment in (one, two, lost, other):
        keep(services, comment)

    assert client.get(f"/review/comments/{one.id}").text.count('<p dir="auto">Two</p>') == 1
    for comment in (lost, other):
        assert 'class="thread"' not in client.get(f"/review/comments/{comment.id}").text
