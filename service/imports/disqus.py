"""Reads Disqus's export files."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from html import escape
from urllib.parse import unquote

from service.domain.decision import Ruling
from service.domain.text import unescape
from service.imports.imported import Entry, import_flat, read_written_at, unescape_link
from service.imports.input_files import InputFile
from service.imports.lenient_xml import read_elements
from service.web.edge.fields import is_web_address
from service.web.webhooks.html_text import html_to_text

_FIELDS = frozenset(
    ("link", "title", "message", "createdAt", "isDeleted", "isSpam", "name", "email", "ipAddress")
)
# Disqus leads links over its own counter, which adds a key of its own to the URL.
_COUNTED = re.compile(r"(?:https?:)?//disq\.us/url\?url=([^&\"'\s<>]{1,8000})[^\"'\s<>]*", re.I)
_KEY = re.compile(r":(?!\d{1,5}\Z)[\w-]{1,40}\Z")


def read_disqus(file: InputFile) -> Iterator[Entry]:
    """Yield the posts in the file's order. Raises `InvalidInputError`."""
    # A forum may have any number of threads, so they are kept on disk: an empty name opens a
    # temporary database, which is deleted when it is closed.
    with closing(sqlite3.connect("")) as threads:
        threads.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, link TEXT, title TEXT)")
        number = 0
        record: dict[str, str] = {}
        kind = ""
        for element in read_elements(
            file, root="disqus", groups=("thread", "post", "parent"), fields=_FIELDS
        ):
            if element.name in _FIELDS:
                record.setdefault(element.name, element.text.strip())
            elif kind == "post" and element.name != "post":
                if element.begins:
                    record[f"{element.name} id"] = element.attributes.get("id", "")
            else:
                # The tag before or after a record may be missing.
                if kind == "post":
                    number += 1
                    yield _read_post(number, record, threads)
                elif kind == "thread":
                    row = (record["id"], record.get("link"), record.get("title"))
                    threads.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?)", row)
                kind = element.name if element.begins else ""
                record = {"id": element.attributes.get("id", "")}


def _read_post(number: int, post: Mapping[str, str], threads: sqlite3.Connection) -> Entry:
    is_spam = post.get("isSpam", "").lower() == "true"
    text = html_to_text(_COUNTED.sub(_uncounted, post.get("message", "")))
    if not text or (post.get("isDeleted", "").lower() == "true" and not is_spam):
        return None
    query = "SELECT link, title FROM threads WHERE id = ?"
    found = threads.execute(query, (post.get("thread id", ""),)).fetchone()
    link, title = found or (None, None)
    return import_flat(
        number,
        {
            "text": text,
            "site_comment_id": post["id"],
            "post_url": unescape_link(link),
            "post_title": title and unescape(title),
            "author_name": unescape(post.get("name", "")),
            "author_email": post.get("email"),
            "address": post.get("ipAddress"),
            "written_at": read_written_at(post.get("createdAt")),
            "reply_to": post.get("parent id"),
        },
        Ruling.REJECT if is_spam else Ruling.APPROVE,
        system="disqus",
    )


def _uncounted(link: re.Match[str]) -> str:
    """Return the URL to which a link of Disqus's counter leads, escaped as in an attribute."""
    target = unquote(unescape(link[1]))
    return escape(_KEY.sub("", target)) if is_web_address(target) else link[0]
