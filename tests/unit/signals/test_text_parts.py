"""Links, contacts, sentences and quotations are found where they stand in a text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.undisguise import undisguise
from service.signals.contacts import ContactKind
from service.signals.links import find_links
from service.signals.text import find_sentences, find_words, plain_of
from service.signals.view import view_of_text


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Ana came, e.g. at 3.5 bar. Good.", ["Dr. Ana came, e.g. at 3.5 bar.", "Good."]),
        ("面白い記事。参考になる！また来ます", ["面白い記事。", "参考になる！", "また来ます"]),
        ("बहुत अच्छा। धन्यवाद", ["बहुत अच्छा।", "धन्यवाद"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("I wonder... maybe not. Yes.", ["I wonder... maybe not.", "Yes."]),
        ("nice skills.Visit us", ["nice skills.", "Visit us"]),
        ("1. Open it.\n2. Close it.", ["1. Open it.", "2. Close it."]),
        (
            "See https://a.com/x.html?q=1. Then rest.",
            ["See https://a.com/x.html?q=1.", "Then rest."],
        ),
    ],
)
def test_cuts_sentences_of_any_script_and_none_inside_a_link(text, sentences):
    assert [text[a:b] for a, b in view_of_text(text).sentences] == sentences


@given(st.text(max_size=200))
def test_sentences_and_plain_characters_lie_inside_the_text(text):
    sentences, plain = find_sentences(text), plain_of(text)
    places = [plain.original(i, i + 1) for i in range(len(plain.text))]

    assert all(0 <= a < b <= len(text) for a, b in (*sentences, *places))
    assert all(before[1] <= after[0] for before, after in pairwise(sentences))


@pytest.mark.parametrize("hidden", ["\u200b", "\u206a", "\ufe0f", "\U000e0041", "\U000e0100"])
def test_what_the_classifier_does_not_see_parts_no_word_for_the_detectors(hidden):
    text = f"get 𝗰{hidden}𝗮sino now"

    plain = plain_of(text)

    assert plain.text == undisguise(text).text == "get casino now"
    assert text[slice(*plain.original(4, 10))] == f"𝗰{hidden}𝗮sino"


def test_words_of_scripts_with_vowel_signs_stay_whole():
    assert [word.text for word in find_words("आपके लिए don’t")] == ["आपके", "लिए", "don't"]


@pytest.mark.parametrize(
    ("text", "written", "domain"),
    [
        ("see https://a.example.com/x(1)).", "https://a.example.com/x(1)", "example.com"),
        ("buy at cheap-pills.shop now", "cheap-pills.shop", "cheap-pills.shop"),
        ("[docs](https://a.b.com/x) here", "[docs](https://a.b.com/x)", "b.com"),
        ("<a href='http://t.com/x'>y</a>!", "<a href='http://t.com/x'>y</a>", "t.com"),
        ("[url=http://z.ru]sofa[/url]", "[url=http://z.ru]sofa[/url]", "z.ru"),
        ("请访问foo-bar.com查看", "foo-bar.com", "foo-bar.com"),
        ("auf müller-shop.de, gut", "müller-shop.de", "müller-shop.de"),
        ("смотри сайт.рф", "сайт.рф", "сайт.рф"),
    ],
)
def test_finds_a_link_however_it_is_written(text, written, domain):
    links = find_links(text)

    assert [text[link.start : link.end] for link in links] == [written]
    assert links[0].domain == domain


@pytest.mark.parametrize(
    "text",
    [
        "main.py reads user.name and README.md",
        "ASP.NET and System.IO since v1.2.3",
        "write to ana@example.com",
        "e.g. this, i.e. that... and so on.So it goes",
        "![IMG|690x388](upload://xYz12abc34567890abcdefg.jpeg)",
        "[a](javascript://a.com/%0aalert(1)) <a href='view-source://a.com'>b</a>",
    ],
)
def test_takes_no_file_member_or_missing_space_for_a_link(text):
    assert find_links(text) == ()


def test_keeps_the_words_of_a_link_apart_from_where_it_leads():
    text = '<a class="x" href="http://spin.bet/a">en.wikipedia.org</a>'

    (link,) = find_links(text)

    assert link.anchor == "en.wikipedia.org"
    assert link.host == "spin.bet"


def test_marks_links_in_code_and_quotations():
    text = "`https://a.com` is slow\n> see https://b.com\nuse https://c.com"

    shielded = {link.host: link.shielded for link in find_links(text)}

    assert shielded == {"a.com": True, "b.com": True, "c.com": False}


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ('[quote="ruth, post:3, topic:310, full:true"]\n', "\n[/quote]"),
        ("[quote=ruth]", "[/quote]"),
        ("[code=bash]", "[/code]"),
        ('<blockquote cite="#comment-12"><p>', "</p></blockquote>"),
        ('<pre class="wp-block-code">', "</pre>"),
        ('<code class="language-sh">', "</code>"),
    ],
)
def test_marks_quotations_and_code_as_programs_write_them(opening, closing):
    text = f"{opening}Write to +49 151 0000000 or see https://b.com{closing} Not here, please."

    assert [(link.host, link.shielded) for link in find_links(text)] == [("b.com", True)]
    assert not view_of_text(text).contacts


def test_an_unclosed_tag_reaches_no_further_than_itself():
    text = "<a href='http://a.com'>one and more text"

    (link,) = find_links(text)

    assert text[link.start : link.end] == "<a href='http://a.com'>"


@pytest.mark.parametrize(
    ("text", "kind", "written"),
    [
        ("write ana@example.com please", "EMAIL", "ana@example.com"),
        ("drhealer (at) gmail (dot) com", "EMAIL", "drhealer (at) gmail (dot) com"),
        ("call +44 7700 900123 now", "PHONE", "+44 7700 900123"),
        ("join t.me/fast_profit", "HANDLE", "t.me/fast_profit"),
        ("пиши в телеграм @vika_rabota", "HANDLE", "телеграм @vika_rabota"),
        ("怎么放气。请加微信ruth888", "HANDLE", "微信ruth888"),
        ("LINE ID: ruth22", "HANDLE", "LINE ID: ruth22"),
        ("or Signal ruth.22", "HANDLE", "Signal ruth.22"),
    ],
)
def test_finds_contact_details(text, kind, written):
    (contact,) = view_of_text(text).contacts

    assert contact.kind is ContactKind[kind]
    assert text[contact.start : contact.end] == written


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:ana/valves.git",
        "on 2025-11-03 and 2025-11-04 it was 1013 hPa",
        "set wait_timeout and wal_status",
        "`ana@example.com` is in the config",
        "微信iPhone14版崩溃，微信8.0.50更新后闪退",
        "the line id: row_3 and signal pin.22",
    ],
)
def test_takes_nothing_else_for_a_contact(text):
    assert view_of_text(text).contacts == ()
