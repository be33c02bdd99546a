"""https://github.com/WordPress/wordpress-develop/pull/10698: exports that are not well-formed XML.

Also hexojs/hexo-migrator-wordpress/issues/43, mpalmer/jekyll-static-comments/pull/10,
getpelican/pelican/pull/2218 and disqus/disqus-wordpress-plugin/issues/58.
"""

import gzip
import json
import random
import re
import tracemalloc
from datetime import UTC, datetime

import pytest

from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.imports.disqus import read_disqus
from service.imports.imported import Imported, derived_id
from service.imports.input_files import Broken, InputFile
from service.imports.rows import read_csv, read_jsonl
from service.imports.wxr import read_wxr
from tests.functional.test_transfer import (  # noqa: F401  # fixtures
    DISQUS,
    WXR,
    bring,
    cases,
    run,
    wp_comment,
)

TEXTS = ["Grüße 1", "Grüße 2", "Grüße 3"]
WHOLE = WXR % "".join(wp_comment(number + 1, text) for number, text in enumerate(TEXTS))
URL = "<wp:comment_author_url><![CDATA[https://mara.example]]></wp:comment_author_url>"
NAMESPACE = ' xmlns:wp="http://wordpress.org/export/1.2/"'
DOCTYPE = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>\n'


def read_until_refused(content: str | bytes, path, reader=read_wxr):
    """Return the entries, and what is said of the file's end."""
    kept = []
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with InputFile(str(path)) as file:
        try:
            kept.extend(reader(file))
        except InvalidInputError as error:
            return kept, str(error)
    return kept, ""


def read(*given):
    kept, said = read_until_refused(*given)
    assert not said
    return kept


def texts(entries):
    return [entry.document["text"] for entry in entries if isinstance(entry, Imported)]


def put(old: str, new: str, count: int = -1) -> str:
    assert old in WHOLE
    return WHOLE.replace(old, new, count)


def titled(title: str) -> str:
    return put("<![CDATA[Bleeding a radiator]]>", title)


def declared(label: str, codec: str) -> bytes:
    return put('"UTF-8"', f'"{label}"').encode(codec)


@pytest.mark.parametrize(
    "content",
    [
        put(URL, "<wp:comment_author_url>http://shop.example/?a=1&b=2</wp:comment_author_url>"),
        titled("A&nbsp;B"),
        titled("A\x01\x0b\x1fB\ufffe"),
        titled("A & B < 3 &unknown; &#; ]]>"),
        titled("A <b>bold title<br></i>"),
        "\n" + WHOLE,
        "\ufeff\n" + WHOLE,
        "\n<br />\n<b>Warning</b>:  mysqli_query(): gone in <b>/a/b.php</b> on line <b>7</b>\n"
        + WHOLE,
        "<!DOCTYPE html><html><head><title>x</title></head><body>Hi &copy;</body></html>" + WHOLE,
        "Deprecated: " + "x" * 3_000 + WHOLE,
        put("<item>", "<br />\n<b>Notice</b>: Undefined offset in <b>/a.php</b><br />\n<item>"),
        put(NAMESPACE, ""),
        put("<wp:wxr_version>", "<media:thumbnail url='a&b'/><a:b><wp:wxr_version>"),
        put(NAMESPACE, ' xmlns:ns3="http://wordpress.org/export/1.2/"').replace("wp:", "ns3:"),
        put("generator=", "-- generator --- "),
        put("<!-- generator", "<!- generator"),
        put("<rss ", '<rss version="2.0" version="0.92" '),
        put('version="2.0"', "version='2.0"),
        put("<item>", '<item rdf:about="a<b>c&d">'),
        WHOLE + "\n<!-- cached by a plugin, -- 0.3 s -->",
        WHOLE + "<br />\n<b>Fatal error</b>: Maximum execution time & memory in <b>x.php</b>",
        put("</item>", ""),
        put("<wp:commentmeta>", "</wp:commentmeta>"),
        put("<wp:comment_parent>", "<wp:comment_parent"),
        put("</wp:comment_author>", ""),
        put("</wp:comment>", "", 1),
        put("<wp:comment>", "", 1),
        put("<rss", DOCTYPE + "<rss"),
        put(' encoding="UTF-8"', ""),
        put('<?xml version="1.0" encoding="UTF-8" ?>', ""),
        put('<?xml version="1.0" encoding="UTF-8" ?>', '<?xml version="1.1" encoding="UTF-8">'),
        put("<channel>", '<channel><?php echo "a > b"; ?><?xml version="1.0"?>'),
        WHOLE.encode("utf-16"),
        put("UTF-8", "UTF-16").encode("utf-16-be"),
        ("\n" + WHOLE).encode("utf-16-le"),
        put("UTF-8", "UTF-16").encode(),
        put("UTF-8", "ISO-8859-1").encode("utf-8-sig"),
        declared("ISO-8859-1", "iso-8859-1"),
        declared("macintosh", "mac-roman"),
        ("Notice: x\n" + put("UTF-8", "latin1")).encode("latin1"),
        ("Notice: x\n" * 9_000 + put("UTF-8", "latin1")).encode("latin1"),
        declared(" latin1 ", "latin1"),
        declared("iso-latin-1", "latin1"),
        declared("UTF-8", "latin1"),
        declared("ISO-8859-1", "utf-8"),
        declared("no-such", "utf-8"),
        declared("zlib", "utf-8"),
    ],
)
def test_all_comments_are_read(content, tmp_path):
    assert texts(read(content, tmp_path / "export")) == TEXTS


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("TIS-620 dos-874 iso885911", "cp874", "สวัสดี…"),
        ("GB2312 gb_2312-80 csGB2312 chinese x-gbk", "gb18030", "中国朱镕基"),
        ("x-sjis windows-31j csShiftJIS MS932", "cp932", "日本①"),
        ("EUC-KR ks_c_5601-1989 csEUCKR iso-ir-149 csKSC56011987", "cp949", "한국뷁"),
        ("Big5 cn-big5 x-x-big5 csBig5", "big5hkscs", "台灣碁裏"),
        ("x-cp1251 win-1251", "cp1251", "Привет"),
        ("ISO-8859-9 l5", "cp1254", "İyi “gün”"),
        ("us-ascii", "utf-8", "Grüße"),
        ("l1 ANSI_X3.4-1968 iso88591", "cp1252", "« café\xa0» …"),
        ("ISO-8859-8-I logical visual csISO88598E", "iso8859-8", "שלום"),
        ("ISO-8859-6-E csISO88596I", "iso8859-6", "مرحبا"),
        ("koi koi8 KOI8-RU", "koi8-u", "Привет"),
        ("x-mac-ukrainian", "mac-cyrillic", "Привіт"),
        ("mac csMacintosh", "mac-roman", "Grüße"),
        ("sun_eu_greek iso88597", "iso8859-7", "Γειά"),
        ("csISOLatin9 l9 iso885915", "iso8859-15", "10 €"),
        ("csEUCPkdFmtJapanese", "euc_jp", "日本"),
        ("utf-16 ucs-2 csUnicode", "utf-16-le", "Grüße " + "中国" * 10_000),
    ],
)
def test_a_file_is_read_in_the_encoding_it_means(label, codec, text, tmp_path):
    for one in label.split():
        content = (WXR % wp_comment(1, text)).replace('"UTF-8"', f'"{one}"').encode(codec)

        assert (one, texts(read(content, tmp_path / "export"))) == (one, [text])


@pytest.mark.parametrize("label", ["ISO-8859-1", "windows-1251", "koi8-r", "macintosh"])
@pytest.mark.parametrize("at", [65_535, 65_536, 300_000])
def test_a_file_is_read_as_utf_8_whatever_it_declares_and_however_late(label, at, tmp_path):
    content = declared(label, "utf-8")
    before = at - len(WHOLE.partition("ü")[0]) - len(content) + len(WHOLE.encode())

    content = content.replace(b"<channel>", b"<channel>" + b" " * before)

    assert texts(read(content, tmp_path / "export")) == TEXTS


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a&b", "a&b"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("?a=1&copyright;&notit;", "?a=1&copyright;&notit;"),
        ("&LT;b&gt;", "<b>"),
        ("<![CDATA[a&nbsp;<b]]>&amp;", "a <b&"),
        ("<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
        ("<!-- & <![CDATA[ -->a&b", "a&b"),
        ("&lt;&#8364;&#xd800;", "<\u20ac"),
        ('So <x title="1 > 2">bold</x><br>&nbsp;', 'So <x title="1 > 2">bold</x>'),
    ],
)
@pytest.mark.parametrize("before", range(64_200, 64_340, 20))
def test_a_piece_s_edge_changes_nothing(written, meant, before, tmp_path):
    filler = f"<!--{'x' * before}--><wp:comment_content>"
    content = put(f"<wp:comment_content><![CDATA[{TEXTS[0]}]]>", filler + written)

    assert texts(read(content, tmp_path / "export")) == [meant, *TEXTS[1:]]


def cut_gzip(whole: bytes) -> bytes:
    packed = gzip.compress(whole, 1)
    return packed[: len(packed) * 3 // 4]


def damage_gzip(whole: bytes) -> bytes:
    packed = bytearray(gzip.compress(whole, 1))
    packed[len(packed) * 3 // 4 :] = b"\xff" * 500
    return bytes(packed)


MANY = 2_000
NOISE = [f"{number} {random.Random(number).getrandbits(400):x}" for number in range(MANY)]


@pytest.mark.parametrize("damage", [cut_gzip, damage_gzip, lambda whole: gzip.compress(whole)[:-3]])
@pytest.mark.parametrize("kind", ["wxr", "jsonl", "csv"])
def test_of_a_damaged_gzip_file_what_is_whole_is_kept_and_the_rest_is_told(damage, kind, tmp_path):
    reader, content = {
        "wxr": (read_wxr, WXR % "".join(wp_comment(n, text) for n, text in enumerate(NOISE))),
        "jsonl": (read_jsonl, "".join(f'{{"text": "{text}"}}\n' for text in NOISE)),
        "csv": (read_csv, "text\n" + "".join(f"{text}\n" for text in NOISE)),
    }[kind]

    kept, said = read_until_refused(damage(content.encode()), tmp_path / "export", reader)

    assert "cut short" in said or isinstance(kept[-1], Broken)
    assert texts(kept) == NOISE[: len(texts(kept))]
    assert len(texts(kept)) > MANY * 0.6


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(("end", "kept"), [("Grüße 3", 2), ("/wordpress.org", 0)])
def test_of_a_file_cut_short_what_is_whole_is_kept(bring, cases, pack, end, kept):  # noqa: F811
    whole = WHOLE.encode()
    content = pack(whole[: whole.index(end.encode()) + 1])

    with pytest.raises(InvalidInputError, match="cut short"):
        bring(content, "wxr")

    assert sorted(cases()) == ["wordpress:1", "wordpress:2"][:kept]


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        *(
            (content, read_csv)
            for content in (
                "Text;Author\nGrüße 1;M\nGrüße 2;M\nGrüße 3;M".encode("cp1252"),
                "text\tid\nGrüße 1\t1\nGrüße 2\t2\nGrüße 3\t3".encode("utf-16"),
                "\ufeffsep=|\n\ntext|id\nGrüße 1|1\nGrüße 2|2\nGrüße 3|3",
            )
        ),
        ('[{"text": "Grüße 1"}, {"Text": "Grüße 2"},\n{"text": "Grüße 3"}\n]', read_jsonl),
        (
            '{"text": "Grüße 1"}\n{"text": "Grüße 2"}\n{"body": "Grüße 3"}'.encode("latin1"),
            read_jsonl,
        ),
        (re.sub("<wp:comment_id>.*?</wp:comment_id>", "", WHOLE), read_wxr),
        (put("<![CDATA[comment]]>", "\n Comment\n "), read_wxr),
    ],
)
def test_other_programs_files_are_read_with_an_id_for_each_comment(content, reader, tmp_path):
    entries = read(content, tmp_path / "export", reader)

    assert texts(entries) == TEXTS
    assert len({entry.document["site_comment_id"] for entry in entries}) == len(TEXTS)


@pytest.mark.parametrize(
    ("row", "kept", "cut"),
    [
        *(
            ({"date": date}, {"written_at": datetime(2026, 1, 5, 10, tzinfo=UTC)}, ())
            for date in (
                1767607200,
                "1767607200000",
                "2026/01/05 10:00:00",
                "2026-01-05 10:00:00 UTC",
            )
        ),
        ({"date": "yesterday"}, {}, ("written_at",)),
        ({"lang": "plain English"}, {}, ("language",)),
        ({"lang": " " * 50_000 + "!"}, {}, ("language",)),
        ({"parent": 3}, {"reply_to": "3"}, ()),
        ({"parent": 0}, {}, ()),
        ({"id": "a@5"}, {"site_comment_id": derived_id("a@5")}, ()),
    ],
)
def test_of_a_row_all_that_can_be_kept_is_kept_and_the_rest_is_named(row, kept, cut, tmp_path):
    content = json.dumps({"id": 7, "text": "Hello."} | row)

    (entry,) = read(content, tmp_path / "export", read_jsonl)

    assert (entry.document, entry.cut) == ({"text": "Hello.", "site_comment_id": "7"} | kept, cut)


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_file_loses_only_the_comments_beside_the_damage(seed, tmp_path):
    chance = random.Random(seed)
    whole = (WXR % "".join(wp_comment(number, f"Text {number}.") for number in range(50))).encode()
    starts = [found.start() for found in re.finditer(b"<wp:comment>", whole)]
    content = bytearray(whole)
    at = chance.randrange(len(content))
    for _ in range(chance.randint(1, 4)):
        if chance.random() < 0.5:
            del content[at : at + chance.randint(1, 12)]
        else:
            content[at:at] = chance.randbytes(chance.randint(1, 6))
    hit = sum(start <= at for start in starts) - 1

    kept, said = read_until_refused(bytes(content), tmp_path / "export")

    assert not said or "cut short" in said
    expected = {f"Text {number}." for number in range(50) if not hit <= number <= hit + 1}
    assert expected <= set(texts(kept))


@pytest.mark.parametrize("begins", ['<b c="', "<!-- ", "<?x ", "<![CDATA[", "text", "&#", "<"])
def test_a_tag_without_end_takes_little_memory(begins, tmp_path):
    (tmp_path / "export").write_text(put("<wp:comment_content>", begins + "x" * 8_000_000, 1))
    tracemalloc.start()

    with InputFile(str(tmp_path / "export")) as file:
        kept = list(read_wxr(file))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert texts(kept)[-1] == TEXTS[-1]
    assert most < 16_000_000


@pytest.mark.parametrize(
    "opening",
    ["<", "<a>", "<!--", "<!-- >", "<![CDATA[", "<a b='", "'\"<a \"'", "&a;", "<wp:comment_type>"],
)
@pytest.mark.timeout(30)
def test_many_openings_take_little_time(opening, tmp_path):
    kept = read(put("<wp:comment_content>", opening * 400_000, 1), tmp_path / "export")

    assert [entry for entry in kept if entry]


def test_entities_of_the_file_s_own_are_not_resolved(tmp_path):
    content = put("<rss", DOCTYPE + "<rss").replace(f"<![CDATA[{TEXTS[0]}]]>", "&a;&b;")

    assert texts(read(content, tmp_path / "export"))[0] == "&a;&b;"


@pytest.mark.parametrize(
    ("gmt", "local", "meant"),
    [
        ("0000-00-00 00:00:00", "2026-01-05 11:00:00", datetime(2026, 1, 5, 11, tzinfo=UTC)),
        ("1970-01-01 00:00:00", "2026-01-05 11:00:00", datetime(2026, 1, 5, 11, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", "", None),
        ("Mon, 05 Jan 2026 10:00:00 +0000", "", datetime(2026, 1, 5, 10, tzinfo=UTC)),
        ("0000-00-00 00:00:00", "0000-00-00 00:00:00", None),
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


def test_a_disqus_field_is_unescaped_and_read_without_blanks(tmp_path):
    link = "\n <![CDATA[https://blog.example/?a=1&#038;p=it&#039;s&copy=2]]>\n"
    content = DISQUS.replace("https://blog.example/radiators/", link)
    for name in ("isSpam", "isDeleted"):
        content = content.replace(f"<{name}>true<", f"<{name}>\n True <")

    first, spam, deleted = read(content.encode(), tmp_path / "export", read_disqus)

    assert first.document["post"]["url"] == "https://blog.example/?a=1&p=it's&copy=2"
    assert (first.ruling, spam.ruling) == (Ruling.APPROVE, Ruling.REJECT)
    assert deleted is None


def test_fields_of_other_namespaces_are_not_the_posts_own(tmp_path):
    others = "<media:title>Photo</media:title><atom:link>https://atom.example</atom:link>"

    (first, *_) = read(WHOLE.replace("<item>", f"<item>{others}"), tmp_path / "export.xml")

    assert first.document["post"]["title"] == "Bleeding a radiator"
    assert first.document["post"]["url"].startswith("https://blog.example/")
