"""Reading what Akismet clients send, hostile bodies too."""

import codecs
import encodings
import pkgutil
import time

import pytest

from service.domain.form import FormBehaviour
from service.web.akismet.forms import behaviour_of, find_codec, read_form, read_json


@pytest.mark.parametrize(
    ("raw", "fields"),
    [
        (
            b"comment_content=hello&HTTP_COOKIE=a&POST_comment=x&user_ID=1&USER_IP=1&unknown=2",
            {"comment_content": "hello"},
        ),
        # Bare names are empty, and the last of a name wins.
        (b"comment_author&user_role=a&user_role=b&&=&", {"comment_author": "", "user_role": "b"}),
        (b"comment_author_url=", {"comment_author_url": ""}),
        # Lists are joined whatever their brackets.
        (b"comment_context[]=a&comment_context[]=b", {"comment_context": "a, b"}),
        (b"comment_context%5b%5d=a&comment_context=b", {"comment_context": "a, b"}),
        # Broken percents are kept.
        (b"comment_content=a+b%20c%2Bd%ZZ%", {"comment_content": "a b c+d%ZZ%"}),
    ],
)
def test_a_form_is_read_as_php_reads_it_and_only_what_is_needed(raw, fields):
    assert read_form(raw, charset=None) == fields


@pytest.mark.parametrize(
    ("charset", "raw", "text"),
    [
        (None, b"%C3%A9%F0%9F%98%80", "é😀"),
        ("utf-8", b"%E9", "\N{REPLACEMENT CHARACTER}"),
        ('"UTF-8"', b"%C3%A9", "é"),
        ("ISO-8859-1", b"%E9%93", "é“"),
        ("us-ascii", b"%80", "€"),
        ("windows-1251", b"%D1%EF", "Сп"),
        ("no such thing", b"%C3%A9", "é"),
        ("utf-8", b"a%00b", "a\N{REPLACEMENT CHARACTER}b"),
        (None, b"%F3&blog_charset=koi8-r", "С"),
        ("cp1251", b"%F3&blog_charset=koi8-r", "у"),
    ],
)
def test_values_are_decoded_by_their_charset(charset, raw, text):
    assert read_form(b"comment_content=" + raw, charset=charset)["comment_content"] == text


def test_no_codec_that_is_no_charset_is_ever_used():
    known = {module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"mbcs", "oem"}
    harmful = {
        "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7", "utf_16",
        "utf_32", "zlib_codec", "bz2_codec", "hex_codec", "base64_codec", "quopri_codec",
        "uu_codec", "rot_13",
    }  # fmt: skip

    accepted = {name for name in known if find_codec(name)}

    assert harmful <= known
    assert not accepted & harmful
    assert all(codecs.lookup(find_codec(name)) for name in accepted)
    assert len(accepted) > 60


def test_python_never_hears_of_a_strangers_charset():
    before = set(encodings._cache)

    for number in range(100):
        read_form(f"blog_charset=none-{number}".encode(), charset=f"neither-{number}")

    assert {name for name in encodings._cache if "none" in name or "neither" in name} <= before


def test_json_values_become_what_a_form_would_say():
    fields = read_json(
        b'{"is_test": false, "user_role": null, "comment_content": "x", "limit": 3,'
        b' "comment_context": ["a", "b"], "blog": {"nested": 1}, "secret": "y",'
        b' "honeypot_field_name": "trap", "trap": "filled"}'
    )

    assert fields == {
        "is_test": "false",
        "user_role": "",
        "comment_content": "x",
        "comment_context": "a, b",
        "blog": "",
        "honeypot_filled": "true",
    }
    assert read_json(b'{"comment_content": "x"}') == {"comment_content": "x"}


@pytest.mark.parametrize(
    "raw",
    [
        b"&" * 1_000_000,
        b"%" * 1_000_000,
        b"comment_content=" + b"%5B" * 300_000,
        b"comment_context[]=a&" * 50_000,
        b"a[" * 300_000 + b"]=1",
        b"comment_content=" + b"+" * 1_000_000,
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_a_megabyte_of_the_worst_is_read_at_once(raw):
    started = time.process_time()

    read_form(raw, charset="utf-8")

    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    ("raw", "filled"),
    [
        (b"honeypot_field_name=trap&trap=filled+by+a+bot", "true"),
        (b"trap=+%20&honeypot_field_name=trap", "false"),
        (b"honeypot_field_name=trap", "false"),
        (b"POST_ak_hp_textarea=cheap+pills", "true"),
        (b"trap=filled", None),
        (b"honeypot_field_name=comment_content&comment_content=hello", None),
        (b"honeypot_filled=true", None),
    ],
)
def test_of_a_hidden_field_only_remains_whether_it_was_filled_in(raw, filled):
    fields = read_form(raw, charset=None)

    assert fields.get("honeypot_filled") == filled
    assert set(fields) <= {"honeypot_filled", "comment_content"}


_OF_A_BROWSER = (
    "ak_bib=1795169986066&ak_bfs=1795170012566&ak_bkpc=181&ak_bmcc=4&ak_bmmc=9&ak_btec=0"
    "&ak_btmc=0&ak_bsc=2&ak_bkp=91,120;88,140;&ak_bte=&ak_bck=3;9"
)


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (_OF_A_BROWSER, FormBehaviour(seconds=26.5, keys=181, pointer=13, touch=0)),
        ("ak_bib=&ak_bfs=1795170012566&ak_bkpc=0", FormBehaviour(keys=0)),
        # A clock that was set back meanwhile, and what no script sends.
        ("ak_bib=1795170012566&ak_bfs=1795169986066&ak_bkpc=7", FormBehaviour(keys=7)),
        ("ak_bkpc=-1&ak_bmcc=many&ak_bsc=1e9&ak_btec=" + "9" * 40, None),
        ("ak_bkpc=999999999999", FormBehaviour(keys=100_000)),
        ("ak_js=1795169986066&ak_hp_textarea=", None),
    ],
)
def test_the_plugins_counts_are_read_in_bounds_and_the_rhythm_of_keys_is_not(sent, seen):
    raw = "&".join(f"POST_{pair}" for pair in sent.split("&")).encode()

    fields = read_form(raw, charset=None)

    assert behaviour_of(fields) == seen
    assert not {"POST_ak_bkp", "POST_ak_bte", "POST_ak_bck"} & fields.keys()
