"""One button rejects a comment and blocks its sender, another takes both back."""

from __future__ import annotations

import re

import pytest

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.list_entry import EntryKind
from service.domain.sender import make_sender
from tests.factories import make_comment
from tests.functional.moderators import hidden_fields, keep


@pytest.fixture
def comment(services):
    sender = make_sender(
        address="203.0.113.9",
        email="mara@example.org",
        secret=services.sender_secrets.present,
    )
    author = Author(name="</p><script>alert(1)</script>", url="https://my-pills.com")
    return keep(services, make_comment("Buy pills", sender=sender, author=author))


@pytest.fixture
def block(client, comment):
    """Press the button of the menu that blocks."""
    path = f"/review/comments/{comment.id}/distrust"
    form = hidden_fields(client.get(f"/review/comments/{comment.id}"), path)
    return lambda **more: client.post(path, data={**form, "effect": "block", **more})


def in_force(services):
    return services.list_entries.in_force(services.clock())


def test_one_button_rejects_and_blocks_and_one_takes_both_back(services, client, comment, block):
    answer = block(what=["email", "domain:my-pills.com"], next="/review?show=all")

    assert (answer.status_code, answer.location) == (303, "/review?show=all")
    assert services.cases.get(comment.id).decision.ruling is Ruling.REJECT
    assert {entry.kind for entry in in_force(services)} == {EntryKind.EMAIL, EntryKind.DOMAIN}
    page = client.get(answer.location)
    assert "Rejected, and 2 entries were added to the block list." in page.text
    path = f"/review/comments/{comment.id}/distrust/undo"
    entries = re.findall(r'name="entry" value="([^"]+)"', page.text)
    client.post(path, data=hidden_fields(page, path) | {"entry": entries})
    assert services.cases.get(comment.id).decision is None
    assert in_force(services) == []


def test_nobody_is_sent_to_a_foreign_place(block):
    for target in ("https://evil.example/", "//evil.example", "/sign-out", "/review\\..\\x"):
        assert block(next=target).location == "/review"
