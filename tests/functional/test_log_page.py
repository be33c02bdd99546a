"""The log's page: who did what, when; read and exported, never changed."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from service.ports.audit import AuditEntry
from service.web.pages.accounts.log_page import PAGE_SIZE
from tests.factories import NOW


def log(services, n, **changes):
    values = {
        "at": NOW + timedelta(minutes=n),
        "actor": "ada",
        "act": "approve",
        "subject": f"s{n}",
        "detail": f"entry {n}.",
    }
    entry = AuditEntry(**(values | changes))
    services.audit_log.append(entry)
    return entry


def shown(page):
    return [int(n) for n in re.findall(r"entry (\d+)\.", page.text)]


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
def test_the_log_is_narrowed_by_who_what_whom_and_when(services, client, query, expected):
    for n in range(4):
        log(
            services,
            n,
            at=NOW + timedelta(days=n // 2),
            actor="grace" if n % 2 else "ada",
            act="reject" if n > 1 else "approve",
        )

    page = client.get("/log", query_string=query)
    export = client.get("/log.jsonl", query_string=query)

    assert shown(page) == expected
    lines = [json.loads(line) for line in export.text.splitlines()]
    assert [line["detail"] for line in lines if line["detail"].startswith("entry")] == [
        f"entry {n}." for n in expected
    ]


def test_the_export_is_a_file_of_all_of_it(services, client):
    entries = [log(services, n) for n in range(PAGE_SIZE * 2)]

    answer = client.get("/log.jsonl")

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "attachment" in answer.headers["Content-Disposition"]
    assert [line["detail"] for line in lines[: len(entries)]] == [
        entry.detail for entry in reversed(entries)
    ]
    assert lines[0]["at"] == "2026-03-01T13:39:00Z"
