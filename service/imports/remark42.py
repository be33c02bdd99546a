"""Reads Remark42's backups: a first line about users and posts, then the comments."""

from collections.abc import Iterator, Mapping

from service.domain.decision import Ruling
from service.imports.imported import Entry, import_flat, read_written_at
from service.imports.input_files import Broken, InputFile
from service.imports.rows import json_rows
from service.web.webhooks.html_text import html_to_text


def read_remark42(file: InputFile) -> Iterator[Entry]:
    """Yield the comments in the file's order."""
    for number, row in json_rows(file):
        if isinstance(row, Broken):
            yield row
        elif "version" not in row:
            yield _read(number, row)


def _read(number: int, row: Mapping[str, object]) -> Entry:
    text = html_to_text(_words(row, "text"))
    if not text or row.get("delete") is True:
        return None
    user, post = row.get("user"), row.get("locator")
    return import_flat(
        number,
        {
            "text": text,
            "site_comment_id": row.get("id") or None,
            "post_url": _words(post, "url"),
            "post_title": _words(row, "title"),
            "author_name": _words(user, "name"),
            "written_at": read_written_at(row.get("time")),
            "reply_to": _words(row, "pid"),
        },
        Ruling.APPROVE,
        system="remark42",
    )


def _words(group: object, name: str) -> str:
    found = group.get(name) if isinstance(group, Mapping) else None
    return found if isinstance(found, str) else ""
