"""Comments of the systems that static sites had before."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing

import pytest

from service.commands.sources.imported import Broken, Imported, LeftOut
from service.commands.sources.isso import read_isso
from service.commands.sources.opened import OpenedFile
from service.commands.sources.opened_folder import MAX_FILE_BYTES, OpenedFolder
from service.commands.sources.remark42 import read_remark42
from service.commands.sources.staticman import ENDINGS, read_staticman
from service.commands.sources.utterances import read_utterances
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
    with OpenedFile(str(path)) as file:
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
    assert isinstance(deleted, LeftOut)
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
    assert isinstance(deleted, LeftOut)
    assert isinstance(odd, Imported)
    assert isinstance(broken, Broken)


STATICMAN = """_id: 5b2c9a40-7d1c-11e8-9c2d-fa7ae01bbebc
_parent: 4a1b8930-7d1c-11e8-9c2d-fa7ae01bbebc
name: Mara
email: 0bc83cb571cd1c50ba6f3e8a78ef1346
url: 'https://mara.example'
message: >-
  The valve was
  stuck here too.
date: '2026-01-05T10:00:00.000Z'
hidden: yes
"""


@pytest.fixture
def staticman(tmp_path):
    comments = tmp_path / "_data" / "comments"
    page = comments / "2026" / "radiators"
    page.mkdir(parents=True)
    (page / "entry1.yml").write_text(STATICMAN)
    seconds = {"_id": "no uuid", "_parent": "https://blog.example/radiators/", "date": 1767607200}
    (page / "entry2.json").write_text(
        json.dumps(seconds | {"comment": "Thank you.", "email": "ada@mail.example"})
    )
    (page / "entry3.yaml").write_text("message: Hm.\ndate: 1767607200500\n")
    (page / "entry4.yml").write_text("name: nobody\nmessage: '  '\n")
    (page / "notes.txt").write_text("no comment")
    return comments


def read_folder(path):
    return list(read_staticman(OpenedFolder(str(path), ENDINGS)))


def test_staticman_s_comments_are_read_with_the_page_of_their_folder(staticman):
    first, second, third, empty = read_folder(staticman)

    assert first.document == {
        "text": "The valve was stuck here too.",
        "site_comment_id": "staticman:5b2c9a40-7d1c-11e8-9c2d-fa7ae01bbebc",
        "written_at": first.document["written_at"],
        "reply_to": "staticman:4a1b8930-7d1c-11e8-9c2d-fa7ae01bbebc",
        "post": {"url": "/2026/radiators/"},
        "author": {"name": "Mara", "url": "https://mara.example"},
    }
    assert first.ruling is Ruling.APPROVE
    assert first.cut == ()
    assert "reply_to" not in second.document
    assert second.document["site_comment_id"] == "staticman:2026/radiators/entry2.json"
    assert second.document["author"] == {"email": "ada@mail.example"}
    moments = [one.document["written_at"].isoformat() for one in (first, second, third)]
    assert moments == [
        "2026-01-05T10:00:00+00:00",
        "2026-01-05T10:00:00+00:00",
        "2026-01-05T10:00:00.500000+00:00",
    ]
    assert isinstance(empty, LeftOut)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"{" * 100_000,
        b"a: &a [*a]\nmessage: [*a, *a]\n",
        b"message: !!python/object/apply:os.system ['true']\n",
        b"\xff\xfe\x00",
        b"- a list\n",
        b"message: 'no end",
        b"? [a]\n: b\n",
        b"a" * (MAX_FILE_BYTES + 1),
        b"date: 9999999999999\nmessage: 7\n",
    ],
)
@pytest.mark.parametrize("ending", ["yml", "json"])
def test_a_hostile_file_of_staticman_costs_itself_alone(tmp_path, content, ending):
    (tmp_path / f"a.{ending}").write_bytes(content)
    (tmp_path / "b.yml").write_text("message: Fine.")

    first, second = read_folder(tmp_path)

    if isinstance(first, Imported):
        assert first.document["text"] == "7"
    else:
        assert isinstance(first, Broken | LeftOut)
    assert second.document["text"] == "Fine."


def test_links_in_a_folder_of_staticman_lead_nowhere(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.yml").write_text("message: Not yours.")
    comments = tmp_path / "comments"
    comments.mkdir()
    (comments / "entry.yml").symlink_to(outside / "secret.yml")
    (comments / "page").symlink_to(outside)
    (comments / "mine.yml").write_text("message: Mine.")
    os.mkfifo(comments / "pipe.yml")

    [only] = read_folder(comments)

    assert only.document["text"] == "Mine."


def test_a_folder_without_comments_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidInputError) as refusal:
        read_folder(tmp_path)

    assert "without comments of Staticman" in refusal.value.problems[0].problem


# As docs.github.com/rest/issues has them, what is not read left out.
ISSUES = [
    {
        "url": "https://api.github.com/repos/ada/comments/issues/7",
        "comments_url": "https://api.github.com/repos/ada/comments/issues/7/comments",
        "html_url": "https://github.com/ada/comments/issues/7",
        "title": "radiators/",
        "body": "# Bleeding a radiator\n\nHow to\n\n"
        "[https://blog.example/radiators.html](https://blog.example/radiators.html)",
    },
    {
        "url": "https://api.github.com/repos/ada/comments/issues/8",
        "comments_url": "https://api.github.com/repos/ada/comments/issues/8/comments",
        "title": "valves/",
        "body": None,
    },
]


def issue_comment(number, issue, body="Stuck here too."):
    return {
        "id": number,
        "node_id": f"IC_kwDO{number}",
        "url": f"https://api.github.com/repos/ada/comments/issues/comments/{number}",
        "issue_url": f"https://api.github.com/repos/ada/comments/issues/{issue}",
        "html_url": f"https://github.com/ada/comments/issues/{issue}#issuecomment-{number}",
        "user": {"login": "mara", "id": 31},
        "created_at": "2026-01-05T10:00:00Z",
        "updated_at": "2026-01-05T10:00:00Z",
        "author_association": "OWNER",
        "body": body,
    }


COMMENTS = [issue_comment(1, 7), issue_comment(2, 8), issue_comment(3, 9), issue_comment(4, 7, "")]
SAVED = {
    "one array after another": "".join(map(json.dumps, (ISSUES, COMMENTS[:2], COMMENTS[2:]))),
    "arrays in an array": json.dumps([ISSUES, COMMENTS], indent=2),
    "lines": "\n".join(map(json.dumps, ISSUES + COMMENTS)) + "\n",
}


@pytest.mark.parametrize("how", SAVED)
def test_utterances_comments_are_read_however_they_were_saved(tmp_path, how):
    path = tmp_path / "utterances.json"
    path.write_text(SAVED[how])

    first, second, unknown, empty = read(read_utterances, path)

    assert first.document == {
        "text": "Stuck here too.",
        "site_comment_id": "github:IC_kwDO1",
        "written_at": first.document["written_at"],
        "post": {"url": "https://blog.example/radiators.html", "title": "radiators/"},
        "author": {"name": "mara"},
    }
    assert first.ruling is Ruling.APPROVE
    assert second.document["post"] == {"url": "/valves/", "title": "valves/"}
    assert "post" not in unknown.document
    assert isinstance(empty, LeftOut)


def test_utterances_comments_longer_than_what_is_read_at_once_are_whole(tmp_path):
    path = tmp_path / "utterances.json"
    long = "A valve. " * 30_000
    path.write_text(json.dumps([issue_comment(1, 7, long), issue_comment(2, 7)]))

    first, second = read(read_utterances, path)

    assert first.cut == ("text",)
    assert second.document["text"] == "Stuck here too."


@pytest.mark.parametrize(
    "content",
    ["", "[]", "no json", "[1, 2]", json.dumps(ISSUES), "[" * 100_000, '{"a":' * 100_000, "7"],
)
def test_what_is_no_file_of_utterances_is_refused_by_name(tmp_path, content):
    path = tmp_path / "utterances.json"
    path.write_text(content)

    with pytest.raises(InvalidInputError) as refusal:
        read(read_utterances, path)

    assert "GitHub's issue comments" in refusal.value.problems[0].problem


def test_of_a_file_of_utterances_that_ends_too_early_what_is_whole_is_read(tmp_path):
    path = tmp_path / "utterances.json"
    path.write_text(json.dumps(COMMENTS[:2])[:-30])

    with OpenedFile(str(path)) as file:
        entries = read_utterances(file)
        first = next(entries)
        with pytest.raises(InvalidInputError):
            next(entries)

    assert isinstance(first, Imported)


@pytest.mark.parametrize(
    ("title", "url"),
    [
        ("index", "/"),
        ("/a/b", "/a/b"),
        ("https://blog.example/a/", "https://blog.example/a/"),
        ("Bleeding a radiator", None),
        ("", None),
    ],
)
def test_an_issue_s_title_names_its_page_where_it_can(tmp_path, title, url):
    path = tmp_path / "utterances.json"
    path.write_text(json.dumps([ISSUES[1] | {"title": title}, issue_comment(1, 8)]))

    [only] = read(read_utterances, path)

    assert only.document.get("post", {}).get("url") == url
