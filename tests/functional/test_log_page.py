"""The log's page: who did what, when; read and exported, never changed."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from service.domain.user import Role
from service.moderation.admin.accounts import set_access
from service.moderation.admin.users import add_user, find_user
from service.ports.audit import AuditEntry
from service.web.pages.accounts.log_page import PAGE_SIZE
from tests.factories import NOW
from tests.fakes import make_services
from tests.functional.moderators import keep, rule, scripts_of, signed_in

HOSTILE = '"><script>alert(1)</script>\u202e=HYPERLINK("http://evil.example")'


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def owner(services):
    return signed_in(services, "Olive")


def log(services, n, **changes):
    values = {
        "at": NOW + timedelta(minutes=n),
        "actor": "ada",
        "act": "approve",
        "subject": f"s{n}",
        "detail": f"entry {n}.",
    }
    entry = AuditEntry(**(values | changes))
    services.common.audit_log.append(entry)
    return entry


def shown(page):
    return [int(n) for n in re.findall(r"entry (\d+)\.", page.text)]


def test_acts_are_shown_newest_first_page_after_page(services, owner):
    for n in range(PAGE_SIZE + 5):
        log(services, n)

    first = owner.get("/log")
    [older] = re.findall(r'rel="next" href="([^"]+)"', first.text)
    second = owner.get(older.replace("&amp;", "&"))

    assert shown(first) == list(range(PAGE_SIZE + 4, 4, -1))
    assert shown(second) == [4, 3, 2, 1, 0]
    assert 'rel="next"' not in second.text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"actor": "grace"}, [3, 1]),
        ({"act": "reject"}, [3, 2]),
        ({"subject": "s2"}, [2]),
        ({"from": "2026-03-02"}, [3, 2]),
        ({"to": "2026-03-01"}, [1, 0]),
        ({"from": "2026-03-02", "actor": "grace"}, [3]),
        ({"actor": "nobody"}, []),
    ],
)
def test_the_log_is_narrowed_by_who_what_whom_and_when(services, owner, query, expected):
    for n in range(4):
        log(
            services,
            n,
            at=NOW + timedelta(days=n // 2),
            actor="grace" if n % 2 else "ada",
            act="reject" if n > 1 else "approve",
        )

    page = owner.get("/log", query_string=query)
    export = owner.get("/log.jsonl", query_string=query)

    assert shown(page) == expected
    lines = [json.loads(line) for line in export.text.splitlines()]
    assert [line["detail"] for line in lines if line["detail"].startswith("entry")] == [
        f"entry {n}." for n in expected
    ]


@pytest.mark.parametrize(
    "query",
    [
        {"after": "-1"},
        {"after": "9" * 400},
        {"after": "\u0663"},
        {"from": "yesterday", "to": "9999-12-31"},
        {"from": "0001-01-01"},
        {"actor": "\x00"},
        {"actor": HOSTILE * 200},
    ],
)
def test_nonsense_in_the_address_breaks_nothing(services, owner, query):
    log(services, 1)

    page = owner.get("/log", query_string=query)

    assert page.status_code == 200
    assert scripts_of(page.text) == []


def test_hostile_names_are_dead_text(services, owner):
    log(services, 1, actor=HOSTILE, subject=HOSTILE, detail=HOSTILE)

    page, export = owner.get("/log"), owner.get("/log.jsonl")

    assert scripts_of(page.text) == []
    assert "\u202e" not in page.text
    assert 'href="http' not in page.text
    assert json.loads(export.text.splitlines()[0])["actor"] == HOSTILE


def test_a_comment_is_linked_and_an_account_is_named(services, owner):
    comment = keep(services)
    rule(owner, comment, "approve")
    user, _ = add_user("Mara", services.accounts, services.common, actor="test")

    page = owner.get("/log")

    assert f'href="/review/comments/{comment.id}"' in page.text
    assert "Mara" in page.text
    assert f"/review/comments/{user.id}" not in page.text


def test_the_export_is_a_file_of_all_of_it(services, owner):
    entries = [log(services, n) for n in range(PAGE_SIZE * 2)]

    answer = owner.get("/log.jsonl")

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "attachment" in answer.headers["Content-Disposition"]
    assert [line["detail"] for line in lines[: len(entries)]] == [
        entry.detail for entry in reversed(entries)
    ]
    assert lines[0]["at"] == "2026-03-01T13:39:00Z"


@pytest.mark.parametrize("role", [Role.MODERATOR, Role.READER])
def test_who_may_not_see_the_log_does_not(services, owner, role):
    client = signed_in(services, "Ola")
    ola = find_user("Ola", services.accounts)
    set_access(ola.id, services.accounts, services.common, role=role, site_ids=None, actor="test")

    assert [client.get(path).status_code for path in ("/log", "/log.jsonl")] == [403, 403]


def test_an_admin_of_some_sites_sees_no_log(services, owner):
    client = signed_in(services, "Ola")
    ola = find_user("Ola", services.accounts)
    [site] = services.common.sites.all()
    set_access(
        ola.id,
        services.accounts,
        services.common,
        role=Role.ADMIN,
        site_ids=[site.id],
        actor="test",
    )

    assert client.get("/log").status_code == 403


def test_nothing_changes_the_log(owner):
    assert [owner.post(path).status_code for path in ("/log", "/log.jsonl")] == [405, 405]
