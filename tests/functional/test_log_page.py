"""The log's page: who did what, when; read and exported, never changed."""

from __future__ import annotations

import json
import re
from datetime import timedelta

from service.ports.audit import AuditEntry
from service.web.pages.log import PAGE_SIZE
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


def test_the_log_is_narrowed_by_who_what_whom_and_when(services, client):
    asked = {"actor": "grace", "act": "reject", "subject": "s3", "from": "2026-03-02"}
    asked["to"] = asked["from"]
    for n, changes in enumerate(
        (
            {"actor": "ada"},
            {"act": "approve"},
            {"subject": "s2"},
            {},
            {"at": NOW},
            {"at": NOW + timedelta(days=2)},
        )
    ):
        sought = {"at": NOW + timedelta(days=1), "actor": "grace", "act": "reject", "subject": "s3"}
        log(services, n, **(sought | changes))

    page = client.get("/log", query_string=asked)
    export = client.get("/log.jsonl", query_string=asked)

    assert shown(page) == [3]
    assert '"entry 3."' in export.text
    assert export.text.count('"entry ') == 1


def test_the_export_is_a_file_of_all_of_it(services, client):
    entries = [log(services, n) for n in range(PAGE_SIZE * 2)]

    answer = client.get("/log.jsonl")

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "attachment" in answer.headers["Content-Disposition"]
    assert [line["detail"] for line in lines[: len(entries)]] == [
        entry.detail for entry in reversed(entries)
    ]
    assert lines[0]["at"] == "2026-03-01T13:39:00Z"
