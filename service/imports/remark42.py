"""Reads Remark42's backups: a first line about users and posts, then the comments."""

from collections.abc import Iterator, Mapping

from service.domain.decision import Ruling
from service.imports.imported import Entry, import_flat, read_written_at
from service.imports.input_files import Broken, InputFile
from service.imports.rows import json_rows
from service.web.webhooks.html_text import html_to_text
from service.web.webhooks.payload import own_id

_NAME = "remark42"


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
    user, post, own, parent = row.get("user"), row.get("locator"), row.get("id"), _words(row, "pid")
    return import_flat(
        number,
        {
            "text": text,
            "site_comment_id": own_id(_NAME, str(own)) if own else None,
            "post_url": _words(post, "url"),
            "post_title": _words(row, "title"),
            "author_name": _words(user, "name"),
            "written_at": read_written_at(row.get("time")),
            "reply_to": own_id(_NAME, parent) if parent else None,
        },
        Ruling.APPROVE,
    )


def _words(group: object, name: str) -> str:
    found = group.get(name) if isinstance(group, Mapping) else None
    return found if isinstance(found, str) else ""
