"""One button rejects a comment and blocks its sender, another takes both back."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from flask import render_template

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.list_entry import EntryKind
from service.domain.sender import make_sender
from service.domain.user import Role
from service.web.pages.review.reject_and_block import (
    instruction_view,
    just_listed,
    reject_and_block_view,
)
from tests.factories import make_comment
from tests.functional.moderators import keep, make_app, signed_in

HOSTILE = "</p><script>alert(1)</script>"


@pytest.fixture
def client(services):
    """A client of an application that also shows the parts of a comment's page on their own."""
    app = make_app(services)

    @app.get("/parts/<comment_id>")
    def parts(comment_id):
        case = services.review.cases.get(comment_id)
        return "".join(
            render_template(
                name,
                reject_and_block=reject_and_block_view(case, services.reputation),
                instruction=instruction_view(case),
                just_listed=lambda: just_listed(services.reputation, services.review),
                place=None,
            )
            for name in ("instruction.html", "reject_and_block.html", "rejected_and_blocked.html")
        )

    return signed_in(services, app=app)


@pytest.fixture
def comment(services):
    sender = make_sender(
        address="203.0.113.9",
        email="mara@example.org",
        secret=services.reputation.sender_secrets.present,
    )
    return keep(
        services,
        make_comment(
            "Buy at https://pills-direct.shop",
            sender=sender,
            author=Author(name=HOSTILE, url="https://my-pills.com"),
        ),
    )


def forms(page) -> list[dict[str, list[str]]]:
    """Return the fields of each form on the page, with its address under `action`."""
    found = []
    for action, inside in re.findall(r'<form[^>]*action="([^"]+)"[^>]*>(.*?)</form>', page, re.S):
        fields: dict[str, list[str]] = {"action": [action]}
        for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', inside):
            fields.setdefault(name, []).append(html.unescape(value))
        found.append(fields)
    return found


def send(client, form, **changes):
    form = {**form, **changes}
    (path,) = form.pop("action")
    return client.post(path, data=form)


def in_force(services):
    return services.reputation.list_entries.in_force(services.common.clock())


def test_one_button_rejects_and_blocks_and_one_takes_both_back(services, client, comment):
    _, block = forms(client.get(f"/parts/{comment.id}").text)

    answer = send(client, block, what=["email", "domain:my-pills.com"], next="/review?show=all")

    assert (answer.status_code, answer.location) == (303, "/review?show=all")
    assert services.review.cases.get(comment.id).decision.ruling is Ruling.REJECT
    assert {entry.kind for entry in in_force(services)} == {EntryKind.EMAIL, EntryKind.DOMAIN}
    page = client.get(f"/parts/{comment.id}").text
    assert "Rejected, and 2 entries were added to the block list." in page
    answer = send(client, forms(page)[-1])
    assert answer.location == "/review"
    assert services.review.cases.get(comment.id).decision is None
    assert in_force(services) == []


def test_nobody_is_sent_to_a_foreign_place(client, comment):
    _, block = forms(client.get(f"/parts/{comment.id}").text)

    for target in ("https://evil.example/", "//evil.example", "/sign-out", "/review\\..\\x"):
        assert send(client, block, next=target).location == "/review"


def test_who_may_not_list_senders_gets_no_menu_and_no_way_round(services, client, comment):
    _, block = forms(client.get(f"/parts/{comment.id}").text)
    user = services.accounts.users.find("Ola")
    services.accounts.users.replace(replace(user, role=Role.READER))

    assert forms(client.get(f"/parts/{comment.id}").text) == []
    assert send(client, block).status_code == 403
    services.accounts.users.replace(replace(user, role=Role.MODERATOR, site_ids=("site-2",)))
    assert send(client, block).status_code == 404
    assert in_force(services) == []
