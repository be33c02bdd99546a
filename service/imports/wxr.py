"""Reads WordPress's export files (WXR)."""

import re
from collections.abc import Iterator, Mapping
from html.entities import html5

from service.domain.decision import Ruling
from service.domain.text import unescape
from service.imports.imported import Entry, import_flat, read_written_at, unescape_link
from service.imports.input_files import InputFile
from service.imports.lenient_xml import read_elements
from service.web.webhooks.html_text import html_to_text

_EXCERPT_SOURCE_CHARS = 20_000
_RULINGS = {"1": Ruling.APPROVE, "approve": Ruling.APPROVE, "spam": Ruling.REJECT}
_THROWN_AWAY = frozenset({"trash", "post-trashed"})
# Programs write pingbacks, trackbacks and webmentions; a WooCommerce review is no comment.
_COMMENT_TYPES = frozenset({"", "comment"})
# With their prefixes: `media:title` is another title, `excerpt:encoded` another text.
_POST_FIELDS = {"title": "", "link": "", "encoded": "content"}
_COMMENT_FIELDS = frozenset(
    f"comment_{name}"
    for name in (
        *("id", "author", "author_email", "author_url", "author_IP", "date", "date_gmt"),
        *("content", "approved", "type", "parent"),
    )
)
_AMPERSAND = re.compile(r"&(#?[A-Za-z0-9]{1,36};)?")


def read_wxr(file: InputFile) -> Iterator[Entry]:
    """Yield the comments in the file's order. Raises `InvalidInputError`."""
    number = 0
    post: dict[str, str] = {}
    comment: dict[str, str] = {}
    for element in read_elements(
        file, root="rss", groups=("item", "comment"), fields=_COMMENT_FIELDS.union(_POST_FIELDS)
    ):
        if element.name in _COMMENT_FIELDS:
            is_text = element.name == "comment_content"
            comment[element.name] = element.text if is_text else element.text.strip()
        elif element.name in _POST_FIELDS:
            if element.prefix == _POST_FIELDS[element.name]:
                post.setdefault(element.name, element.text.strip())
        else:
            # The tag before or after a comment may be missing.
            if comment:
                number += 1
                yield _read_comment(number, comment, post)
                comment = {}
            if element.name == "item":
                post = {}


def _read_comment(number: int, comment: Mapping[str, str], post: Mapping[str, str]) -> Entry:
    status, text = comment.get("comment_approved", ""), comment.get("comment_content", "")
    is_comment = comment.get("comment_type", "").lower() in _COMMENT_TYPES
    if status in _THROWN_AWAY or not is_comment or not text.strip():
        return None
    parent = comment.get("comment_parent")
    return import_flat(
        number,
        {
            # WordPress keeps comments as HTML, of which pages here would show the tags. One that
            # is nothing but a picture stays.
            "text": html_to_text(_escaped(text), keeps_lines=True) or text,
            "site_comment_id": comment.get("comment_id"),
            "post_url": unescape_link(post.get("link")),
            "post_title": unescape(_escaped(post.get("title", ""))),
            "post_excerpt": html_to_text(post.get("encoded", "")[:_EXCERPT_SOURCE_CHARS]),
            "author_name": unescape(_escaped(comment.get("comment_author", ""))),
            "author_email": comment.get("comment_author_email"),
            "author_url": comment.get("comment_author_url"),
            "address": comment.get("comment_author_IP"),
            "written_at": read_written_at(
                comment.get("comment_date_gmt"), comment.get("comment_date")
            ),
            "reply_to": parent if parent != "0" else None,
        },
        _RULINGS.get(status),
        system="wordpress",
    )


def _escaped(html: str) -> str:
    """Return some HTML in which, as WordPress shows it, an entity needs its semicolon."""
    return _AMPERSAND.sub(_as_entity, html)


def _as_entity(found: re.Match[str]) -> str:
    name = found[1] or ""
    return found[0] if name.startswith("#") or name in html5 else f"&amp;{name}"
