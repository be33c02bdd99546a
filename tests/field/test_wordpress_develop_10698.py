"""https://github.com/WordPress/wordpress-develop/pull/10698: exports that are not well-formed XML.

Also hexojs/hexo-migrator-wordpress/issues/43, mpalmer/jekyll-static-comments/pull/10,
getpelican/pelican/pull/2218 and disqus/disqus-wordpress-plugin/issues/58.
"""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime

import pytest

from service.commands.input_files import InputFile
from service.commands.sources.disqus import read_disqus
from service.commands.sources.imported import Imported
from service.commands.sources.wxr import read_wxr
from service.commands.sources.xml_stream import read_elements
from service.domain.errors import InvalidInputError
from tests.functional.test_transfer import (  # noqa: F401  # fixtures
    DISQUS,
    WXR,
    bring,
    cases,
    run,
    wp_comment,
)

WHOLE = WXR % "".join(wp_comment(number, f"Grüße {number}") for number in (1, 2, 3))
RAW_URL = "<wp:comment_author_url>http://shop.example/?a=1&b=2</wp:comment_author_url>"
URL = "<wp:comment_author_url><![CDATA[https://mara.example]]></wp:comment_author_url>"


def read(content: bytes, path, reader=read_wxr):
    path.write_bytes(content)
    with InputFile(str(path)) as file:
        return list(reader(file))


def with_title(title: str) -> bytes:
    return WHOLE.replace("<![CDATA[Bleeding a radiator]]>", title).encode()


@pytest.mark.parametrize(
    "content",
    [
        WHOLE.replace(URL, RAW_URL).encode(),
        ("\n" + WHOLE).encode(),
        ("\ufeff\n" + WHOLE).encode(),
        with_title("A&nbsp;B"),
        with_title("A&#x1;B&#0;"),
        with_title("A & B < 3 &unknown; &#; ]]>"),
        WHOLE.encode("utf-16"),
        WHOLE.replace("UTF-8", "UTF-16").encode("utf-16"),
        WHOLE.replace("UTF-8", "ISO-8859-1").encode("iso-8859-1"),
        WHOLE.replace("UTF-8", "no-such").encode(),
        WHOLE.replace("UTF-8", "punycode").encode(),
    ],
    ids=[
        "amp",
        "blank",
        "bom",
        "nbsp",
        "charref",
        "raw",
        "utf16",
        "utf16-declared",
        "latin1",
        "unknown",
        "codec",
    ],
)
def test_all_comments_are_read(content, tmp_path):
    entries = read(content, tmp_path / "export")

    assert [entry.document["text"] for entry in entries] == ["Grüße 1", "Grüße 2", "Grüße 3"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a&b", "a&b"),
        ("a&nbsp;b", "a\xa0b"),
        ("a&#x1;b", "ab"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("&LT;b&gt;", "<b>"),
        ("<![CDATA[a&nbsp;<b]]>&amp;", "a&nbsp;<b&"),
        ("<!-- & <![CDATA[ -->a&b", "a&b"),
        ("&lt;&#8364;&#xd800;", "<\u20ac"),
    ],
)
@pytest.mark.parametrize("before", [0, *range(65_520, 65_540)])
def test_a_piece_s_edge_changes_nothing(written, meant, before):
    content = f"<a><c>{'x' * before}</c><b>{written}</b></a>".encode()

    (text,) = [e.text for e in read_elements(io.BytesIO(content)) if e.name == "b" and not e.begins]

    assert text == meant


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_of_a_file_cut_short_what_is_whole_is_kept(bring, cases, pack):  # noqa: F811
    whole = WHOLE.encode()
    content = pack(whole[: whole.index("Grüße 3".encode())])

    with pytest.raises(InvalidInputError, match="cut short"):
        bring(content, "wxr")

    assert sorted(cases()) == ["wordpress:1", "wordpress:2"]


@pytest.mark.parametrize(
    ("gmt", "local", "meant"),
    [
        ("0000-00-00 00:00:00", "2026-01-05 11:00:00", datetime(2026, 1, 5, 11, tzinfo=UTC)),
        ("Mon, 05 Jan 2026 10:00:00 +0000", "", datetime(2026, 1, 5, 10, tzinfo=UTC)),
        ("0000-00-00 00:00:00", "0000-00-00 00:00:00", None),
        ("-0001-11-30 00:00:00", "soon", None),
        ("9999-12-31 23:59:59", "", None),
    ],
)
def test_a_date_that_cannot_be_read_is_named(gmt, local, meant, tmp_path):
    content = WXR % wp_comment(1, "Hello.", comment_date_gmt=gmt, comment_date=local)

    (entry,) = read(content.encode(), tmp_path / "export")

    assert isinstance(entry, Imported)
    assert entry.document.get("written_at") == meant
    assert entry.cut == (() if meant else ("written_at",))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,hi"])
def test_a_comment_is_imported_without_what_is_no_web_address(url, tmp_path):
    content = WXR % wp_comment(1, "Hello.", comment_author_url=url)

    (entry,) = read(content.encode(), tmp_path / "export")

    assert "url" not in entry.document["author"]
    assert entry.cut == ("author_url",)


@pytest.mark.parametrize("kind", ["review", "webmention", "pingback", "trackback"])
def test_other_types_are_left_out(kind, tmp_path):
    content = WXR % wp_comment(1, "Hello.", comment_type=kind)

    assert read(content.encode(), tmp_path / "export") == [None]


def test_a_disqus_link_is_unescaped(tmp_path):
    link = "<![CDATA[https://blog.example/?a=1&#038;p=1]]>"
    content = DISQUS.replace("https://blog.example/radiators/", link)

    first, *_ = read(content.encode(), tmp_path / "export", read_disqus)

    assert first.document["post"]["url"] == "https://blog.example/?a=1&p=1"
