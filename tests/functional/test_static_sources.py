"""Comments of the systems that static sites had before."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from service.commands.input_files import Broken, InputFile
from service.commands.sources.imported import Imported
from service.commands.sources.isso import read_isso
from service.commands.sources.remark42 import read_remark42
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError

REMARK42 = [
    {"version": 1, "users": [], "posts": [{"url": "https://blog.example/radiators/"}]},
    {
        "id": "f1",
        "pid": "",
        "text": '<p>The valve, see <a href="https://valves.example">this</a></p>\n',
        "orig": "The valve",
        "user": {"name": "Mara", "id": "github_1", "ip": "0f3e"},
        "locator": {"site": "remark", "url": "https://blog.example/radiators/"},
        "time": "2026-01-05T10:00:00.5Z",
        "title": "Bleeding a radiator",
    },
    {
        "id": "f2",
        "pid": "f1",
        "text": "<p>Thank you.</p>",
        "user": {"name": "Ada"},
        "locator": {"url": "https://blog.example/radiators/"},
        "time": "2026-01-06T10:00:00Z",
    },
    {"id": "f3", "pid": "", "text": "", "user": {"name": "deleted"}, "delete": True},
    {"id": 4, "text": "Odd.", "user": [], "locator": None, "time": 7},
]


def read(reader, path):
    with InputFile(str(path)) as file:
        return list(reader(file))


@pytest.fixture
def isso(tmp_path):
    path = tmp_path / "comments db?#.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        # As Isso 0.13 makes it.
        database.executescript(
            "CREATE TABLE threads (id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE,"
            " title VARCHAR(256));"
            "CREATE TABLE comments (tid REFERENCES threads(id), id INTEGER PRIMARY KEY,"
            " parent INTEGER, created FLOAT NOT NULL, modified FLOAT, mode INTEGER,"
            " remote_addr VARCHAR, text VARCHAR, author VARCHAR, email VARCHAR, website VARCHAR,"
            " likes INTEGER DEFAULT 0, dislikes INTEGER DEFAULT 0, voters BLOB NOT NULL,"
            " notification INTEGER NOT NULL DEFAULT 0);"
            "INSERT INTO threads VALUES (1, '/radiators/', 'Bleeding a radiator');"
        )
        rows = [
            (1, 1, None, 1767607200.5, 1, "The valve.", "Mara", "mara@mail.example", None),
            (1, 2, 1, 1767607300.0, 2, "Cheap sofas", None, None, "https://sofas.example"),
            (1, 3, 1, 1767607400.0, 4, "", None, None, None),
            (9, 4, None, 1e300, 1, "Of no thread.", b"\xff", 7, None),
        ]
        database.executemany(
            "INSERT INTO comments (tid, id, parent, created, mode, text, author, email, website,"
            " remote_addr, voters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '192.0.2.0', x'00')",
            rows,
        )
    return path


def test_isso_s_comments_are_read_with_their_thread(isso):
    shown, waits, deleted, odd = read(read_isso, isso)

    assert shown.document == {
        "text": "The valve.",
        "site_comment_id": "isso:1",
        "written_at": shown.document["written_at"],
        "post": {"url": "/radiators/", "title": "Bleeding a radiator"},
        "author": {"name": "Mara", "email": "mara@mail.example"},
    }
    assert shown.document["written_at"].isoformat() == "2026-01-05T10:00:00.500000+00:00"
    assert (shown.ruling, waits.ruling) == (Ruling.APPROVE, None)
    assert waits.document["reply_to"] == "isso:1"
    assert deleted is None
    assert odd.document == {"text": "Of no thread.", "site_comment_id": "isso:4"}


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00broken"])
def test_what_is_no_database_of_isso_is_refused_by_name(tmp_path, content):
    path = tmp_path / "comments.db"
    path.write_bytes(content)

    with pytest.raises(InvalidInputError) as refusal:
        read(read_isso, path)

    assert "database of Isso" in refusal.value.problems[0].problem


def test_remark42_s_comments_are_read_without_its_first_line(tmp_path):
    path = tmp_path / "backup.json"
    path.write_text("\n".join(map(json.dumps, REMARK42)) + "\n[]\n", "utf-8")

    first, answer, deleted, odd, broken = read(read_remark42, path)

    assert first.document == {
        "text": 'The valve, see <a href="https://valves.example">this</a>',
        "site_comment_id": "remark42:f1",
        "written_at": first.document["written_at"],
        "post": {"url": "https://blog.example/radiators/", "title": "Bleeding a radiator"},
        "author": {"name": "Mara"},
    }
    assert first.ruling is Ruling.APPROVE
    assert answer.document["reply_to"] == "remark42:f1"
    assert deleted is None
    assert isinstance(odd, Imported)
    assert isinstance(broken, Broken)
