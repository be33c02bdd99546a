"""https://github.com/ArtalkJS/Artalk/issues/853: which field is refused?

Locales and dates as WordPress and programs write them are taken; what is no address, no date and no
web address is refused by name. Addresses come as proxies write them
(https://github.com/isso-comments/isso/issues/962), what shows nothing is for a person to judge
(https://github.com/twikoojs/twikoo/issues/614), and words of two characters can be blocked
(https://github.com/twikoojs/twikoo/issues/970).
"""

from datetime import timedelta

import pytest

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.list_entry import EntryKind


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        *(("en_US", "en-US"), ("de_DE_formal", "de-DE-formal"), ("pt_BR.UTF-8", "pt-BR")),
        *((" de ", "de"), ("en-US,en;q=0.9", "en-US"), ("en,de", "en"), ("fr;q=1", "fr")),
        *(("*", None), ("undefined", None), ("null", None), ("N/A", None), (" ", None)),
        *(("", None), ("C.UTF-8", None), ("x-klingon", "x-klingon"), ("i-hak", "i-hak")),
    ],
)
def test_a_locale_is_taken_for_a_language(submit, given, kept):
    assert submit(language=given).comment.language == kept


@pytest.mark.parametrize(
    "given",
    [
        *("2026-03-01T12:29:59+0100", "2026-03-01 12:29:59 +0100", "2026-03-01 12:29:59+01"),
        *("2026-03-01T11:29:60Z", "2026-03-01T11:29:59.0000000009Z"),
    ],
)
def test_an_offset_needs_no_colon_and_seconds_may_leap(submit, given):
    case = submit(written_at=given)

    assert case.comment.written_at.isoformat() == "2026-03-01T11:29:59+00:00"


@pytest.mark.parametrize(
    "zero", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59-01:00"]
)
def test_the_zero_time_of_a_program_is_no_date(submit, zero):
    comment = submit(written_at=zero, post={"published_at": zero}).comment

    assert (comment.written_at, comment.post.published_at) == (None, None)


@pytest.mark.parametrize(
    ("field", "body"),
    [
        *(
            ("author.url", {"author": {"url": url}})
            for url in (
                *("javascript:alert(1)", " java\tscript:alert(1)", "data:text/html,hi"),
                *("javascript:0;alert(1)", "javascript:0", "data:1;base64,eA==", "vbscript:1"),
                *("java\u200bscript:alert(1)", "javascript&colon;alert(1)"),
                *(f"{space}vbscript:1" for space in "\u2000\u205f\u3000\u2029\x85\x9f\ufeff"),
            )
        ),
        *(("written_at", {"written_at": f"2026-03-01T12:29:59{x}"}) for x in ("-02:60", "+0577")),
        *(("author.email", {"author": {"email": e}}) for e in (" @x.example", "ann@\u2060 ", "@")),
        *(
            ("author.email", {"author": {"email": f"ann@x.example{more}"}})
            for more in (", bob@y.example", ";bob@y.example", " bob@y.example", ",y.example")
        ),
        ("post.published_at", {"post": {"published_at": "9999-12-31T00:00:00Z"}}),
        ("post.url", {"post": {"url": "vbscript:x"}}),
        ("author.email", {"author": {"email": "not a mail"}}),
    ],
)
def test_what_is_no_address_is_refused_by_name(api, field, body):
    answer = api.post("/v1/comments", json={"text": "Thanks.", **body})

    assert answer.status_code == 422
    (error,) = answer.get_json()["errors"]
    assert (error["field"], bool(error["remedy"])) == (field, True)


@pytest.mark.parametrize(
    "url", ["blog.example:8080/me", "foo:80", "//blog.example", "HTTPS://blog.example"]
)
def test_a_web_address_needs_no_scheme(submit, url):
    assert submit(author={"url": url}).comment.author.url


def test_an_empty_id_is_none(submit):
    comment = submit(author={"account_id": ""}, reply_to="").comment

    assert (comment.author.account_id, comment.reply_to) == (None, None)


def test_a_date_a_year_ahead_is_refused_alone_and_in_a_batch(api, clock):
    ahead = {"text": "Thanks.", "written_at": (clock() + timedelta(days=365)).isoformat()}
    today = {"text": "Thanks.", "written_at": (clock() + timedelta(hours=14)).isoformat()}

    alone = api.post("/v1/comments", json={**ahead, "address": "x"})
    batch = api.post("/v1/comments/batch", json={"comments": [ahead, today]}).get_json()

    assert [error["field"] for error in alone.get_json()["errors"]] == ["address", "written_at"]
    assert [result["status"] for result in batch["results"]] == [422, 202]


def test_a_repeat_that_is_not_to_be_kept_leaves_the_kept_comment(api, services):
    body = {"text": "Nice write-up.", "site_comment_id": "r-78", "author": {"name": "Ann"}}
    first = api.post("/v1/comments?wait=5", json=body).get_json()

    again = api.post("/v1/comments?wait=5", json={**body, "keep": False})

    assert (again.status_code, again.get_json()["id"]) == (202, first["id"])
    case = services.cases.get(CommentId(first["id"]))
    assert (case.comment.text, case.withdrawn_at) == ("Nice write-up.", None)


def test_what_is_not_to_be_kept_needs_a_wait(api, services):
    body = {"text": "A word in private.", "keep": False}
    wrong = body | {"text": "", "address": "q"}
    alone = [api.post("/v1/comments?wait=0", json=one).get_json() for one in (body, wrong)]
    batch = api.post("/v1/comments/batch?wait=5", json={"comments": [body, wrong]}).get_json()

    refused = [*alone, *(result["problem"] for result in batch["results"])]
    fields = [[error["field"] for error in one["errors"]] for one in refused]
    assert fields == [["keep"], ["text", "address", "keep"]] * 2
    assert not any(services.comments.count_pending().values())


@pytest.fixture
def key_of(submit):
    """Return a function that returns the sender's key of a comment."""
    return lambda address: submit(address=address).comment.sender.address_key


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("203.0.113.9:443", "203.0.113.9"),
        ("203.0.113.9:", "203.0.113.9"),
        ("203.0.113.9, 198.51.100.7", "203.0.113.9"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("2001:db8::1%eth0", "2001:db8::1"),
        ("for=203.0.113.9", "203.0.113.9"),
        ('For="[2001:db8::1]:4711"', "2001:db8::1"),
        ("_hidden, 203.0.113.9", "203.0.113.9"),
        ("for=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"),
        ('proto=http;By=_x; For="[2001:db8::1]:80", for=203.0.113.9', "2001:db8::1"),
    ],
)
def test_an_address_is_read_whatever_is_written_around_it(key_of, given, meant):
    assert key_of(given) == key_of(meant)


@pytest.mark.parametrize(
    "given",
    [
        *("", "unknown", "-", "unix:", "_hidden, unknown", "undefined", "N/A", "(null)"),
        *("localhost", "undefined, localhost", None),
    ],
)
def test_an_unknown_address_is_none(key_of, given):
    assert key_of(given) is None


ZED = "zedquux@gmail.com"


@pytest.mark.parametrize("given", ["", " ", "undefined", "n/a", "-"])
def test_an_unknown_e_mail_is_none(submit, given):
    assert submit(author={"email": given}).comment.sender.email_key is None


@pytest.mark.parametrize(
    "given", ["Zed <zed.quux@gmail.com>", "zed.quux@gmail.com, ", "zed.quux @gmail.com;"]
)
def test_what_stands_around_an_e_mail_is_no_part_of_it(submit, given):
    keys = {submit(author={"email": e}).comment.sender.email_key for e in (given, ZED)}

    assert len(keys) == 1


def test_a_long_user_agent_is_cut(submit):
    assert submit(user_agent="x" * 9_000).comment.user_agent == "x" * 1_000


@pytest.mark.parametrize(
    "text",
    [
        *(" \u200b\u3000\n", "\u2060\u00ad", "\u2800", "\U000e0041"),
        *("\u180b\u17b4\U0001d173\U0001bca0\ufff9\ufffc", "<p>&nbsp;</p><br><x-y></x-y>"),
        "[b] [/b]",
    ],
)
@pytest.mark.parametrize("p_spam", [0.003, 0.999])
def test_a_comment_without_visible_characters_is_unsure(submit, classifier, text, p_spam):
    classifier.answer = ModelOutput(p_spam=p_spam)

    verdict = submit(text=text).verdict

    assert (verdict.outcome, verdict.degraded_by) == ("unsure", ("text",))


@pytest.mark.parametrize(
    "text",
    [
        *(".", "👍", "조", "\u200b!\u200b", "ก", "🏴", "<3", "<img src=x>"),
        *("<https://blog.example.org/a>", "<ruth@posteo.de>", "<mailto:ruth@posteo.de>"),
    ],
)
def test_a_single_visible_one_is_enough(submit, classifier, text):
    classifier.answer = ModelOutput(p_spam=0.003)

    verdict = submit(text=text).verdict

    assert (verdict.outcome, verdict.degraded_by) == ("ham", ())


@pytest.mark.parametrize(
    ("phrase", "spam", "ham"),
    [
        ("代写", "专业代写论文，十年老店", "代我写一封信"),
        ("カジノ", "オンラインカジノはこちら", "カジュアルな記事で読みやすい"),
        ("купить диплом", "Kупи́ть диплoм", "Купить дипломат"),
        ("αγορά τώρα", "ΑΓΟΡΑ ΤΩΡΑ!", "αγοράζω τώρα"),
        ("αγορά τώρα", "αγoρά ΤΏPΑ", "αγοράζω τώρα"),
        ("займ на счёт", "Займ на счет сразу", "Займ на счётчик"),
        ("خرید فالوور", "خريد فالوور ارزان", "خرید کتاب"),
        ("کازینو", "كازينو", "کازرون"),
        ("קזינו אונליין", "יש קזינו־אונליין", "קזינו־אונליינים"),
        ("شراء الآن", "شِـراء الان", "شراء الأمس"),
        ("câștigă bani", "Câştigă bani", "castigă bani"),
        ("buy cheap pills", "&#98;uy&nbsp;<b>cheap</b>&nbsp;pills", "buy cheap pillsbury"),
        ("buy cheap pills", "[buy](https://a.org) [cheap][1] pills", "buy [1] cheap pills"),
        ("buy cheap pills", "https://a.org/buy%20cheap%20pills", "buy%20cheap%20pillsbury"),
        ("buy cheap pills", "buy&amp;nbsp;cheap&amp;#32;pills", "buy&amp;nbsp;cheap spills"),
        ("buy cheap pills", "ʙᴜʏ ᴄʜᴇᴀᴘ pɪʟʟs", "ʙᴜʏ ᴄʜᴇᴀᴘ pɪʟʟ"),
        ("buy cheap pills", "\u202esllip paehc yub", "sllip paehc yub"),
    ],
)
def test_a_blocked_phrase_is_found_as_people_write_it(submit, block, classifier, phrase, spam, ham):
    classifier.answer = ModelOutput(p_spam=0.01)
    block(EntryKind.PHRASE, phrase)

    assert [submit(text=text).verdict.outcome for text in (spam, ham)] == ["spam", "ham"]
