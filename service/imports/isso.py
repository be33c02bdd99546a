"""Reads Isso's database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from service.domain.decision import Ruling
from service.domain.errors import invalid_input
from service.imports.imported import Entry, import_flat, read_written_at
from service.imports.input_files import InputFile

# Isso keeps only the beginning of an IP address, so it is not read.
_QUERY = """
SELECT c.mode, c.id, c.parent, c.created, c.text, c.author AS author_name, c.email AS author_email,
c.website AS author_url, t.uri AS post_url, t.title AS post_title
FROM comments AS c LEFT JOIN threads AS t ON t.id = c.tid ORDER BY c.id
"""
# Isso's modes: shown, and waiting, which has no ruling. Others are deleted comments.
_SHOWN, _WAITING = 1, 2


def read_isso(file: InputFile) -> Iterator[Entry]:
    """Yield the comments by their ids. Raises `InvalidInputError` if it is not Isso's database."""
    try:
        address = f"{file.path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.row_factory = sqlite3.Row
            database.text_factory = lambda raw: raw.decode("utf-8", "replace")
            for number, row in enumerate(database.execute(_QUERY), 1):
                yield _read(number, dict(row))
    except sqlite3.Error:
        remedy = "give the comments.db that `dbpath` of its configuration names, not compressed"
        raise invalid_input("file", "is no database of Isso", remedy) from None


def _read(number: int, row: dict[str, object]) -> Entry:
    mode, own, parent, created = (row.pop(name) for name in ("mode", "id", "parent", "created"))
    # SQLite keeps values of any type in any column.
    given = {name: value for name, value in row.items() if isinstance(value, str)}
    if not given.get("text") or mode not in (_SHOWN, _WAITING):
        return None
    ours = {
        "site_comment_id": own,
        "written_at": read_written_at(created),
        "reply_to": parent,
    }
    ruling = Ruling.APPROVE if mode == _SHOWN else None
    return import_flat(number, given | ours, ruling, system="isso")
