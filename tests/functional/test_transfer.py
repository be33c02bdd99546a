"""`slopsieve import`, `slopsieve export` and `slopsieve hooks`, as an operator types them."""

import csv
import gzip
import io
import json
import re
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import islice

import pytest

from service.commands.transfer import BUILDS, as_data_file
from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.published import PublishedComment
from service.domain.verdict import Outcome
from service.imports.disqus import read_disqus
from service.imports.imported import Imported
from service.imports.input_files import Broken, InputFile
from service.imports.isso import read_isso
from service.imports.remark42 import read_remark42
from service.imports.rows import read_csv
from service.imports.wxr import read_wxr
from service.moderation.decisions import decide_comment
from service.wiring import open_services
from tests.commands import run_command
from tests.factories import NOW, keep_all, make_comment, make_verdict

WXR = """<?xml version="1.0" encoding="UTF-8" ?>
<!-- generator="WordPress/6.8" created="2026-03-01 12:00" -->
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel><title>Radiator blog</title><link>https://blog.example</link><wp:wxr_version>1.2</wp:wxr_version>
<item>
 <title><![CDATA[Bleeding a radiator]]></title><link>https://blog.example/radiators/</link>
 <dc:creator><![CDATA[ada]]></dc:creator>
 <content:encoded><![CDATA[<p>Turn the pump off first.</p>]]></content:encoded>
 <excerpt:encoded><![CDATA[]]></excerpt:encoded><wp:post_id>5</wp:post_id>
 %s
</item></channel></rss>
"""


def wp_comment(number: int, text: str, approved: str = "1", **more: str) -> str:
    fields = {
        "comment_id": str(number),
        "comment_author": "Mara",
        "comment_author_email": "mara@mail.example",
        "comment_author_url": "https://mara.example",
        "comment_author_IP": "203.0.113.9",
        "comment_date": "2026-01-05 11:00:00",
        "comment_date_gmt": "2026-01-05 10:00:00",
        "comment_content": text,
        "comment_approved": approved,
        "comment_type": "comment",
        "comment_parent": "0",
        "comment_user_id": "0",
    } | more
    inner = "".join(f"<wp:{name}><![CDATA[{value}]]></wp:{name}>" for name, value in fields.items())
    meta = "<wp:commentmeta><wp:meta_key>akismet_result</wp:meta_key></wp:commentmeta>"
    return f"<wp:comment>{inner}{meta}</wp:comment>\n"


DISQUS = """<?xml version="1.0" encoding="utf-8"?>
<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<category dsq:id="71"><forum>radiators</forum><title>General</title></category>
<thread dsq:id="901"><id>node/5</id><forum>radiators</forum><category dsq:id="71"/>
 <link>https://blog.example/radiators/</link><title>Bleeding a radiator</title><message/>
 <createdAt>2026-01-01T09:00:00Z</createdAt><author><name>Ada</name></author>
 <isClosed>false</isClosed><isDeleted>false</isDeleted></thread>
<post dsq:id="1001"><id>wp_id=7</id><message><![CDATA[<p>The valve, see
 <a href="https://valves.example" rel="nofollow">valves.example</a></p>]]></message>
 <createdAt>2026-01-05T10:00:00Z</createdAt><isDeleted>false</isDeleted><isSpam>false</isSpam>
 <author><name>Mara</name><isAnonymous>true</isAnonymous></author><thread dsq:id="901"/></post>
<post dsq:id="1002"><id/><message><![CDATA[<p>Cheap sofas</p>]]></message>
 <createdAt>2026-01-06T10:00:00Z</createdAt><isDeleted>true</isDeleted><isSpam>true</isSpam>
 <author><name>Sofas</name></author><thread dsq:id="901"/><parent dsq:id="1001"/></post>
<post dsq:id="1003"><id/><message><![CDATA[<p>Gone</p>]]></message>
 <createdAt>2026-01-06T10:00:00Z</createdAt><isDeleted>true</isDeleted><isSpam>false</isSpam>
 <author><name>Ada</name></author><thread dsq:id="901"/></post>
</disqus>
"""


@pytest.fixture
def run(tmp_path):
    """Run a command on a data folder of its own; return the finished run."""

    def run(*words: str, code: int = 0, stdin: str | None = None):
        return run_command(*words, "--data-dir", tmp_path / "var", code=code, input=stdin)

    run("sites", "add", "Garden")
    return run


@pytest.fixture
def bring(run, tmp_path):
    """Write a file and import it; return what became of its entries, and what was `said`."""

    def bring(content: str | bytes, kind: str, *words: str, code: int = 0):
        path = tmp_path / "export"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = run(
            "import", str(path), "--format", kind, "--site", "Garden", "--json", *words, code=code
        )
        return {**json.loads(done.stdout), "said": done.stderr, "output": done.output}

    return bring


@pytest.fixture
def cases(tmp_path):
    """Return all cases of the data folder, by the site's own id."""

    def cases():
        with open_services(data_dir=str(tmp_path / "var")) as services:
            page = services.cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=1_000)
            return {case.comment.site_comment_id: case for case in page.items}

    return cases


def test_wordpress_comments_are_kept_with_their_post(bring, cases):
    counts = bring(WXR % wp_comment(7, 'See <a href="https://x.example">this</a>'), "wordpress")

    comment = cases()["wordpress:7"].comment
    assert (counts["new"], counts["broken"], counts["decisions"]) == (1, 0, 0)
    assert comment.text == 'See <a href="https://x.example">this</a>'
    assert (comment.post.title, comment.post.url) == (
        "Bleeding a radiator",
        "https://blog.example/radiators/",
    )
    assert comment.post.excerpt == "Turn the pump off first."
    assert (comment.author.name, comment.author.url) == ("Mara", "https://mara.example")
    assert comment.sender.address_key is not None
    assert comment.sender.email_domain == "mail.example"
    assert comment.written_at.isoformat() == "2026-01-05T10:00:00+00:00"
    assert comment.reply_to is None


def test_decisions_are_taken_over_only_when_asked_for_and_no_bin_at_all(bring, cases):
    entries = [
        wp_comment(1, "Kept"),
        wp_comment(2, "Cheap sofas", "spam"),
        wp_comment(3, "Hm", "0", comment_parent="1", comment_author_IP="not told"),
        wp_comment(4, "Thrown away", "trash"),
        wp_comment(5, "Ping", comment_type="pingback"),
        wp_comment(6, " "),
    ]
    content = WXR % "".join(entries)
    first = bring(content, "wxr")
    before = [case.decision for case in cases().values()]
    second = bring(content, "wxr", "--with-decisions")

    after = {name: case.decision and case.decision.ruling for name, case in cases().items()}
    assert (first["new"], first["left_out"], first["decisions"]) == (3, 3, 0)
    assert before == [None, None, None]
    assert (second["new"], second["repeats"], second["decisions"]) == (0, 3, 2)
    assert after == {
        "wordpress:1": Ruling.APPROVE,
        "wordpress:2": Ruling.REJECT,
        "wordpress:3": None,
    }
    assert cases()["wordpress:1"].decision.decided_by == "import"
    assert cases()["wordpress:3"].comment.reply_to == "wordpress:1"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Hi</p>\nCaf&eacute;\n\n1 < 2 &amp; 3", "Hi\n\nCafé\n\n1 < 2 & 3"),
        ('<img src="https://x.example/a.png">', '<img src="https://x.example/a.png">'),
    ],
)
def test_wordpress_texts_and_names_are_read_as_they_are_shown(tmp_path, html, text):
    path = tmp_path / "export.xml"
    path.write_text(WXR % wp_comment(7, html, comment_author="M&uuml;ller &amp; Sohn"), "utf-8")

    (entry,) = entries(read_wxr, path)

    assert entry.document["text"] == text
    assert entry.document["author"]["name"] == "Müller & Sohn"


@pytest.mark.parametrize(
    ("href", "words", "text"),
    [
        ("http%3A%2F%2Fv.example%2Fx%3Akz8abc&amp;cuid=1", "http://v.example/x", "{}/x"),
        ("http%3A%2F%2Fv.example%2Flo%3Fa%3D1%26b%3D2%3Akz-8", "v.example/l...", "{}/lo?a=1&b=2"),
        ("http%3A%2F%2Fv.example%3A8080%3Akz8", "my page", '<a href="{}:8080">my page</a>'),
        ("http%3A%2F%2Fv.example%2F%22%3E%3Cb%3Akz8", "page", '<a href="{}/%22%3E%3Cb">page</a>'),
        ("data%3Ax%3Akz8", "a page", '<a href="http://disq.us/url?url=data%3Ax%3Akz8">a page</a>'),
    ],
)  # fmt: skip
def test_disqus_s_counter_is_none_of_a_link(tmp_path, href, words, text):
    path = tmp_path / "export.xml"
    link = f'<a href="http://disq.us/url?url={href}" rel="nofollow" title="x">{words}</a>'
    path.write_text(DISQUS.replace("<p>Cheap sofas</p>", f"<p>See {link}</p>"), "utf-8")

    assert (
        entries(read_disqus, path)[1].document["text"] == f"See {text.format('http://v.example')}"
    )


@pytest.mark.parametrize("kind", ["wordpress", "csv"])
def test_an_archive_is_to_be_unpacked(bring, kind):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("export", WXR % wp_comment(7, "Hello."))

    with pytest.raises(InvalidInputError, match="file: is an archive") as refusal:
        bring(packed.getvalue(), kind)
    assert "unpack it" in refusal.value.problems[0].remedy


def test_disqus_posts_are_kept_with_their_thread(bring, cases):
    counts = bring(DISQUS, "disqus", "--with-decisions")

    kept, spam = cases()["disqus:1001"], cases()["disqus:1002"]
    assert (counts["new"], counts["left_out"], counts["decisions"]) == (2, 1, 2)
    assert kept.comment.text == "The valve, see https://valves.example"
    assert kept.comment.post.title == "Bleeding a radiator"
    assert kept.comment.post.url == "https://blog.example/radiators/"
    assert kept.comment.author.name == "Mara"
    assert kept.decision.ruling is Ruling.APPROVE
    assert spam.decision.ruling is Ruling.REJECT
    assert spam.comment.reply_to == "disqus:1001"


ROWS = [
    {"id": "a-1", "label": "ham", "text": "One", "author_name": "Mara", "date": "2026-01-05"},
    {
        "site_comment_id": "b-2",
        "text": "Two",
        "post": {"title": "Radiators"},
        "author": {"name": "Ada"},
        "label": "spam",
    },
    {"text": "Three"},
]


@pytest.mark.parametrize("pack", [lambda raw: raw, gzip.compress], ids=["plain", "gzipped"])
def test_json_lines_of_both_shapes_are_read(bring, cases, pack):
    raw = "\n".join(json.dumps(row) for row in ROWS).encode()

    counts, again = (bring(pack(raw), "jsonl", "--with-decisions") for _ in range(2))

    assert (counts["new"], counts["decisions"]) == (3, 2)
    assert (again["new"], again["repeats"], again["decisions"]) == (0, 3, 0)
    assert cases()["a-1"].comment.author.name == "Mara"
    assert cases()["a-1"].comment.written_at.isoformat() == "2026-01-05T00:00:00+00:00"
    assert cases()["b-2"].comment.post.title == "Radiators"
    assert cases()["b-2"].decision.ruling is Ruling.REJECT


def test_csv_is_read_by_the_names_of_its_columns(bring, cases):
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["ID", "Comment", "Name", "Status", "Permalink", "Unknown"])
    writer.writerow(["7", 'Two lines,\n"quoted"', "Mara", "approved", "https://blog.example/p", ""])
    writer.writerow(["8", "Short row"])

    counts = bring("\ufeff" + table.getvalue(), "csv", "--with-decisions")

    assert (counts["new"], counts["decisions"]) == (2, 1)
    assert cases()["7"].comment.text == 'Two lines,\n"quoted"'
    assert cases()["7"].comment.post.url == "https://blog.example/p"


def test_what_cannot_be_read_is_named_and_the_rest_is_kept(bring, cases):
    lines = [
        '{"id": "a", "text": "Kept"}',
        "not JSON",
        "[]",
        '{"id": "b", "text": 7}',
        '{"id": "c", "text": "Secret words", "author": {"name": 7}, "nonsense": 1}',
        '{"id": "d", "text": "Kept too", "post": {"title": 7}}',
        '{"id": "e", "text": "Kept as well"}',
        '{"id": "a", "text": "Other words under a known id"}',
        '{"id": "f", "text": "In private", "keep": false}',
        '{"id": "g", "text": "In private", "author": {"name": "Wim"}, "keep": false}',
    ]

    counts = bring("\n".join(lines), "jsonl", code=1)

    assert (counts["broken"], counts["conflicts"]) == (7, 1)
    assert counts["said"].count(": keep is false where") == 2
    assert "Entry 2: line is not JSON" in counts["said"]
    assert "Entry 5: author.name is not a string" in counts["said"]
    assert "Entry 5: nonsense is not a known field" in counts["said"]
    assert "Entry 6: post.title is not a string" in counts["said"]
    assert "Entry 8: is known under its id with other content; left as it is" in counts["said"]
    assert "Secret words" not in counts["output"]
    assert set(cases()) == {"a", "e"}


@pytest.mark.parametrize("kind", ["wxr", "disqus"])
@pytest.mark.parametrize("content", ["<a>" * 500, "<rss", "<disqus", "", "no XML", "<html></html>"])
def test_what_is_no_export_is_refused(bring, cases, content, kind):
    with pytest.raises(InvalidInputError, match="file:"):
        bring(content, kind)

    assert cases() == {}


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.xml"
        comments = (wp_comment(number, "Words. " * 100) for number in range(count))
        path.write_text(WXR % "".join(comments))
        tracemalloc.start()
        with InputFile(str(path)) as opened:
            read = sum(1 for _ in read_wxr(opened))
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert read == count
        return highest

    small, large = peak(200), peak(800)

    assert large < small * 1.5


def keep(tmp_path, *comments):
    with open_services(data_dir=str(tmp_path / "var")) as services:
        (site,) = services.sites.all()
        kept = [replace(comment, site_id=site.id) for comment in comments]
        keep_all(services.comments, *kept)
        services.verdicts.add([make_verdict(c.id, Outcome.SPAM) for c in kept], audit=frozenset())
        decide_comment(CommentId(kept[0].id), Ruling.REJECT, services, decided_by="=ada")
    return [comment.id for comment in kept]


def test_verdicts_and_decisions_are_exported_with_words_only_where_asked_for(run, tmp_path):
    # More than a page of them.
    others = [make_comment("Words", site_comment_id=f"github:{n}@3") for n in range(1_100)]
    others.append(make_comment("More", site_comment_id=None))
    keep(tmp_path, make_comment("Cheap sofas", site_comment_id="wordpress:7"), *others)
    out = tmp_path / "out.jsonl"

    lines = run("export", "--site", "Garden").stdout.splitlines()
    run("export", "--site", "Garden", "--action", "reject", "--with-text", "--out", str(out))

    rows = {(row["platform"], row["platform_id"]): row for row in map(json.loads, lines)}
    asked_for = rows.pop(("wordpress", "7"))
    assert rows.keys() == {("github", str(n)) for n in range(1_100)} | {(None, None)}
    assert (asked_for["outcome"], asked_for["ruling"]) == ("spam", "reject")
    assert (asked_for["action"], rows["github", "1"]["action"]) == ("reject", "hold")
    assert "Cheap sofas" not in "".join(lines)
    (row,) = map(json.loads, out.read_text().splitlines())
    assert (row["text"], row["author_name"]) == ("Cheap sofas", "Mara")


def test_no_cell_of_a_table_is_a_formula(run, tmp_path):
    starts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1"]
    keep(tmp_path, *(make_comment(start, site_comment_id=start) for start in starts))
    out = tmp_path / "out.csv"

    run("export", "--site", "Garden", "--with-text", "--out", str(out))

    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    safe = {f"'{start}" for start in starts}
    assert {row["text"] for row in rows} == {row["site_comment_id"] for row in rows} == safe
    assert {row["decided_by"] for row in rows} == {"'=ada", ""}
    assert {float(row["p_spam"]) for row in rows} == {0.99}


def test_a_hook_s_secret_is_shown_once_and_a_form_has_none(run, tmp_path):
    added = json.loads(run("hooks", "add", "Garden", "github", "--json").stdout)
    given = ("--secret-file", "-")
    with pytest.raises(InvalidInputError, match="secret"):
        run("hooks", "add", "Garden", "coral")
    coral = run("hooks", "add", "Garden", "coral", *given, "--json", stdin="a" * 40 + "\n")
    form = run("hooks", "add", "Garden", "static-form", "--json")

    listed = run("hooks", "list", "Garden", "--json").stdout + run("hooks", "list").stdout
    with open_services(data_dir=str(tmp_path / "var")) as services:
        kept = services.inbound.get(added["hook_id"])
    assert added["path"] == f"/hooks/{added['hook_id']}"
    assert kept.secret == added["secret"]
    assert len(added["secret"]) >= 40
    assert added["hook_id"] in listed
    assert added["secret"] not in listed
    assert json.loads(coral.stdout)["secret"] == "a" * 40
    assert json.loads(form.stdout)["secret"] == ""
    assert all(option in form.stderr for option in ("--blog", "--public-feed"))
    assert "--mode hold" not in form.stderr
    run("sites", "set", "Garden", "--mode", "observe")
    assert "--mode hold" in run("hooks", "add", "Garden", "static-form").stderr


@pytest.mark.parametrize(
    ("pages_url", "service_url"),
    [(None, "https://slopsieve.example"), ("https://judge.example/", "https://judge.example")],
)
def test_a_forms_line_to_paste_names_service_and_page_and_works_without_scripts(
    run, monkeypatch, pages_url, service_url
):
    if pages_url:
        monkeypatch.setenv("SLOPSIEVE_PAGES_URL", pages_url)
    run("sites", "set", "Garden", "--blog", "https://blog.example/", "--public-feed")

    added = run("hooks", "add", "Garden", "static-form", "--json")

    hook = json.loads(added.stdout)
    public = f"{service_url}/public/{hook['hook_id']}"
    post = "https://blog.example/a-post/"
    assert f'<script src="{public}/form.js" ' in hook["script"]
    assert f' data-comments="{post}" integrity="sha384-' in hook["script"]
    assert f'<noscript><a href="{public}/comments.html?post={post}">' in hook["script"]
    assert post in added.stderr
    assert ("SLOPSIEVE_PAGES_URL" in added.stderr) == (pages_url is None)


def test_a_secret_that_cannot_be_used_is_refused(run):
    for platform, secret in (
        ("github", "short"),
        ("github", "x" * 301),
        ("coral", "with\x00nul and more"),
        ("standard", "whsec_short"),
        ("standard", "whsec_zu kurz ü"),
        ("standard", "x" * 40),
        ("static-form", "x" * 40),
    ):
        with pytest.raises(InvalidInputError, match="secret"):
            run("hooks", "add", "Garden", platform, "--secret-file", "-", stdin=secret)


def test_what_of_an_entry_cannot_be_kept_is_named(bring):
    long = "word " * 20_000
    comments = [
        wp_comment(1, long),
        wp_comment(2, "Short", comment_author="n" * 400, comment_author_url="https://x/" * 300),
        wp_comment(3, "Short", comment_author_IP="nowhere", comment_author_email="nobody"),
        wp_comment(4, "Short"),
    ]

    counts = bring(WXR % "".join(comments), "wxr")

    assert (counts["new"], counts["cut"], counts["broken"]) == (4, 3, 0)
    assert [line for line in counts["said"].splitlines() if line.startswith("Entry")] == [
        "Entry 1: imported, but not all of it can be kept: text.",
        "Entry 2: imported, but not all of it can be kept: author_name, author_url.",
        "Entry 3: imported, but not all of it can be kept: author_email, address.",
    ]


@pytest.mark.parametrize("line", [b'"never closed ', b"a,"])
def test_a_row_without_end_is_told_of_and_takes_little_memory(tmp_path, line):
    rows = b"text\nfirst\n" + line * (16_000_000 // len(line))
    path = tmp_path / "rows.csv"
    path.write_bytes(rows)
    del rows
    tracemalloc.start()

    with InputFile(str(path)) as file:
        first, *others = list(islice(read_csv(file), 20))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert first.document["text"] == "first"
    assert any(isinstance(one, Broken) for one in others)
    assert most < 40_000_000


def test_what_a_site_shows_is_exported_as_one_array_or_by_post_for_a_build(run, bring, tmp_path):
    bring(
        WXR % (wp_comment(7, "Hello.") + wp_comment(8, "Hello again.")), "wxr", "--with-decisions"
    )
    out = tmp_path / "comments.json"

    run("export", "--site", "Garden", "--published", "--out", str(out))
    shown = json.loads(out.read_text("utf-8"))
    run("export", "--site", "Garden", "--format", "hugo", "--out", str(out))
    ((path, rows),) = json.loads(out.read_text("utf-8")).items()

    assert {one["text"] for one in shown} == {"Hello.", "Hello again."}
    assert list(shown[0]) == [
        *("id", "post_url", "author", "author_url", "at", "text", "html"),
        *("reply_to", "reply_to_hidden"),
    ]
    assert path.startswith("/")
    assert {(one["text"], one["depth"]) for one in rows} == {("Hello.", 0), ("Hello again.", 0)}


BLOG = "https://blog.example/notes/"


def shown(name: str, post: str | None, *, hours: int = 0, reply_to: str | None = None):
    return PublishedComment(
        id=CommentId(name),
        text="One.\n\n<b>",
        at=NOW + timedelta(hours=hours),
        post_url=post,
        reply_to=reply_to,
    )


def read(comments, build: str, blog: str | None = BLOG):
    return json.loads("".join(as_data_file(comments, blog, BUILDS[build])))


@pytest.mark.parametrize(
    ("build", "paths"),
    [
        ("hugo", {"/notes/", "/notes/%C3%BCber/", "/notesbook/"}),
        ("jekyll", {"/", "/%C3%BCber/", "/notesbook/"}),
        ("eleventy", {"/", "/über/", "/notesbook/"}),
    ],
)
def test_a_post_is_found_by_what_its_build_calls_it(build, paths):
    posts = ("", "%C3%BCber/?from=feed#end", "u\u0308ber/")
    comments = [shown(f"c{number}", BLOG + post) for number, post in enumerate(posts)]
    comments.append(shown("c9", "https://blog.example/notesbook/"))

    assert read(comments, build).keys() == paths


def test_threads_stand_in_their_order_and_tell_how_deep():
    post = "https://blog.example/p/"
    comments = [
        shown("late", post, hours=9),
        shown("b", post, hours=2, reply_to="a"),
        shown("c", post, hours=3, reply_to="b"),
        shown("a", post),
        shown("d", post, hours=4, reply_to="a"),
        shown("gone", post, hours=1, reply_to="nowhere"),
        # Each answers the other, as only a broken import says.
        shown("x", post, hours=5, reply_to="y"),
        shown("y", post, hours=6, reply_to="x"),
        shown("self", post, hours=7, reply_to="self"),
    ]

    (rows,) = read(comments, "jekyll").values()

    order = " ".join(f"{one['id']}:{one['depth']}" for one in rows)
    assert order == "a:0 b:1 c:2 d:1 gone:0 x:0 y:1 self:0 late:0"
    assert rows[0]["html"] == "<p>One.</p><p>&lt;b&gt;</p>"


def test_no_character_ends_a_build():
    odd = "".join(map(chr, (0xFEFF, 0, 0x1F, 0x7F, 0x85, 0x9F, 0x2028, 0xFFFE, 0xFFFF, 0x1F600)))
    one = PublishedComment(id=CommentId("c1"), text=odd, at=NOW, post_url=f"/p{odd}/")

    file = "".join(as_data_file([one], BLOG, BUILDS["hugo"]))

    # As YAML has it, which Jekyll reads.
    yaml = r"[\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
    assert re.fullmatch(yaml, file)
    ((row,),) = json.loads(file).values()
    assert row["text"] == odd


REMARK42 = [
    {"version": 1, "users": [], "posts": [{"url": "https://blog.example/radiators/"}]},
    {
        "id": "f1",
        "pid": "",
        "text": '<p>The valve, see <a href="https://valves.example">this</a></p>\n',
        "user": {"name": "Mara", "id": "github_1"},
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


def entries(reader, path):
    with InputFile(str(path)) as file:
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
    shown, waits, deleted, odd = entries(read_isso, isso)

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
    assert deleted is None
    assert odd.document == {"text": "Of no thread.", "site_comment_id": "isso:4"}


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00broken"])
def test_what_is_no_database_of_isso_is_refused_by_name(tmp_path, content):
    path = tmp_path / "comments.db"
    path.write_bytes(content)

    with pytest.raises(InvalidInputError) as refusal:
        entries(read_isso, path)

    assert "database of Isso" in refusal.value.problems[0].problem


def test_remark42_s_comments_are_read_without_its_first_line(tmp_path):
    path = tmp_path / "backup.json"
    path.write_text("\n".join(map(json.dumps, REMARK42)) + "\n[]\n", "utf-8")

    first, answer, deleted, odd, broken = entries(read_remark42, path)

    assert first.document == {
        "text": 'The valve, see <a href="https://valves.example">this</a>',
        "site_comment_id": "remark42:f1",
        "written_at": first.document["written_at"],
        "post": {"url": "https://blog.example/radiators/", "title": "Bleeding a radiator"},
        "author": {"name": "Mara"},
    }
    assert first.ruling is Ruling.APPROVE
    assert answer.document["reply_to"] == "remark42:f1"
    assert deleted is None
    assert isinstance(odd, Imported)
    assert isinstance(broken, Broken)
