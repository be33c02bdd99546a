"""Reads WordPress's export files (WXR)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.commands.input_files import InputFile
from service.commands.sources.imported import (
    Entry,
    import_flat,
    read_written_at,
    unescape_link,
)
from service.commands.sources.xml_stream import Element, read_elements
from service.domain.decision import Ruling
from service.web.webhooks.html_text import html_to_text
from service.web.webhooks.payload import own_id

_CONTENT = "http://purl.org/rss/1.0/modules/content/ encoded"
_EXCERPT_SOURCE_CHARS = 20_000
_RULINGS = {"1": Ruling.APPROVE, "approve": Ruling.APPROVE, "spam": Ruling.REJECT}
_THROWN_AWAY = frozenset({"trash", "post-trashed"})
# Pingbacks, trackbacks and webmentions are written by programs; a WooCommerce review is no comment.
_COMMENT_TYPES = frozenset({"", "comment"})


def read_wxr(file: InputFile) -> Iterator[Entry]:
    """Yield the comments in the order of the file. Raises `InvalidInputError`."""
    number = 0
    post: dict[str, str] = {}
    comment: dict[str, str] | None = None
    for element in read_elements(file.stream):
        if element.begins:
            if element.local == "item":
                post = {}
            elif _is_comment(element):
                comment = {}
        elif _is_comment(element) and comment is not None:
            number += 1
            yield _read_comment(number, comment, post)
            comment = None
        elif comment is not None:
            comment[element.local] = element.text
        elif element.name == _CONTENT:
            post["content"] = element.text
        elif element.local in ("title", "link") and " " not in element.name:
            post.setdefault(element.local, element.text)


def _is_comment(element: Element) -> bool:
    return element.local == "comment" and " " in element.name


def _read_comment(number: int, comment: Mapping[str, str], post: Mapping[str, str]) -> Entry:
    status, text = comment.get("comment_approved", ""), comment.get("comment_content", "")
    is_comment = comment.get("comment_type", "") in _COMMENT_TYPES
    if status in _THROWN_AWAY or not is_comment or not text.strip():
        return None
    parent = comment.get("comment_parent", "")
    return import_flat(
        number,
        {
            # Comments are kept as HTML that visitors typed, and are judged as they are.
            "text": text,
            "site_comment_id": own_id("wordpress", comment.get("comment_id", "")),
            "post_url": unescape_link(post.get("link")),
            "post_title": post.get("title"),
            "post_excerpt": html_to_text(post.get("content", "")[:_EXCERPT_SOURCE_CHARS]),
            "author_name": comment.get("comment_author"),
            "author_email": comment.get("comment_author_email"),
            "author_url": comment.get("comment_author_url"),
            "address": comment.get("comment_author_IP"),
            "written_at": read_written_at(
                comment.get("comment_date_gmt"), comment.get("comment_date")
            ),
            "reply_to": own_id("wordpress", parent) if parent not in ("", "0") else None,
        },
        _RULINGS.get(status),
    )
