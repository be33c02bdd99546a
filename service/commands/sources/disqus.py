"""Reads Disqus's export files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing

from service.commands.input_files import InputFile
from service.commands.sources.imported import (
    Entry,
    import_flat,
    read_written_at,
    unescape_link,
)
from service.commands.sources.xml_stream import read_elements
from service.domain.decision import Ruling
from service.web.webhooks.html_text import html_to_text
from service.web.webhooks.payload import own_id

_ID = "http://disqus.com/disqus-internals id"
_NAME = "disqus"


def read_disqus(file: InputFile) -> Iterator[Entry]:
    """Yield the posts in the order of the file. Raises `InvalidInputError`."""
    # A forum has as many threads as it likes, so they lie on disk: an empty name is a database in a
    # temporary file, which goes when it is closed.
    with closing(sqlite3.connect("")) as threads:
        threads.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, link TEXT, title TEXT)")
        yield from _read(file, threads)


def _read(file: InputFile, threads: sqlite3.Connection) -> Iterator[Entry]:
    number = 0
    outer: dict[str, str] | None = None
    outer_name = ""
    for element in read_elements(file.stream):
        if outer is None:
            if element.begins and element.local in ("thread", "post"):
                outer, outer_name = {"id": element.attributes.get(_ID, "")}, element.name
        elif element.begins:
            if element.local in ("thread", "parent") and _ID in element.attributes:
                outer[f"{element.local} id"] = element.attributes[_ID]
        elif element.name == outer_name:
            if element.local == "post":
                number += 1
                yield _read_post(number, outer, threads)
            else:
                row = (outer["id"], outer.get("link"), outer.get("title"))
                threads.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?)", row)
            outer = None
        elif element.local != "id":
            outer.setdefault(element.local, element.text)


def _read_post(number: int, post: Mapping[str, str], threads: sqlite3.Connection) -> Entry:
    is_spam = post.get("isSpam") == "true"
    text = html_to_text(post.get("message", ""))
    if not text or (post.get("isDeleted") == "true" and not is_spam):
        return None
    query = "SELECT link, title FROM threads WHERE id = ?"
    found = threads.execute(query, (post.get("thread id", ""),)).fetchone()
    link, title = found or (None, None)
    parent = post.get("parent id")
    return import_flat(
        number,
        {
            "text": text,
            "site_comment_id": own_id(_NAME, post["id"]),
            "post_url": unescape_link(link),
            "post_title": title,
            "author_name": post.get("name"),
            "author_email": post.get("email"),
            "address": post.get("ipAddress"),
            "written_at": read_written_at(post.get("createdAt")),
            "reply_to": own_id(_NAME, parent) if parent else None,
        },
        Ruling.REJECT if is_spam else Ruling.APPROVE,
    )
