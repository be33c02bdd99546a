"""Links are found in every way of writing them, with exact offsets."""

from __future__ import annotations

import pytest

from service.signals.links import find_links


@pytest.mark.parametrize(
    ("text", "written", "domain"),
    [
        ("see https://a.example.com/x(1)).", "https://a.example.com/x(1)", "example.com"),
        ("at www.foo.co.uk, too", "www.foo.co.uk", "foo.co.uk"),
        ("buy at cheap-pills.shop now", "cheap-pills.shop", "cheap-pills.shop"),
        ("[docs](https://a.b.com/x) here", "[docs](https://a.b.com/x)", "b.com"),
        ("<a href='http://t.com/x'>y</a>!", "<a href='http://t.com/x'>y</a>", "t.com"),
        ("[url=http://z.ru]sofa[/url]", "[url=http://z.ru]sofa[/url]", "z.ru"),
        ("[url]http://q.com[/url]", "[url]http://q.com[/url]", "q.com"),
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
        "I tried it.it works",
        "write to ana@example.com",
        "e.g. this, i.e. that... and so on.So it goes",
        "3.14 and 10.000,50",
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


def test_an_unclosed_tag_reaches_no_further_than_itself():
    text = "<a href='http://a.com'>one and more text"

    (link,) = find_links(text)

    assert text[link.start : link.end] == "<a href='http://a.com'>"
