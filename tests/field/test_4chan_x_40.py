"""https://github.com/ihavenoface/4chan-x/issues/40: a blocked domain in spellings that evade.

With the redirectors of https://github.com/lichess-org/lila/pull/14129, the hidden characters of
https://github.com/rspamd/rspamd/issues/2725, and quotations, where a spammer's link counts as well.
"""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest

from models.inputs import ModelOutput
from service.domain.list_entry import EntryKind
from service.signals.hosts import named_hosts

DOMAIN = "badshop-77.com"
SPELLINGS = (
    "See https://badshop-77。com/claim",
    "See https://ｂａｄｓｈｏｐ-77.com",
    "See https://bad\u200bshop-77.com and tell me",
    "See https://bad\u00adshop-77\u2060.com",
    "See https://badshop-77%2Ecom/claim",
    "See https://badshop-77&#46;com",
    "See https://user:secret@badshop-77.com:8080/",
    "See https://www.google.com/url?q=https%3A%2F%2Fbadshop-77.com%2Fclaim",
    "See https://l.facebook.com/l.php?u="
    + quote(quote("https://badshop-77.com/", safe=""), safe=""),
    "See https://out.example.org/?to=badshop-77.com",
    "See https://translate.example.org/https://badshop-77.com/claim",
    "See badshop-77 [dot] com",
    "See badshop-77 (DOT) com.",
    "See badshop-77 dot com now",
    "See badshop-77 .com",
    "Смотри badshop-77 точка com",
    "请看badshop-77.com吧",
    "It is at badshop-77.com.Then you win",
    "hxxps://badshop-77[.]com",
    "> See https://badshop-77.com/claim\n\nAgree!",
    "<blockquote>https://badshop-77.com</blockquote>",
    "```\ncurl https://shop.badshop-77.com\n```",
    "[here](https://badshop-77%2Ecom)",
    "_badshop-77.com_ and **badshop-77.com**",
    "https://one.example.org " * 400 + "https://badshop-77.com",
)
OTHERS = (
    "See https://notbadshop-77.com and badshop-77.org",
    "See https://badshop-77.com.example.org/",
    "Write to mara@badshop-77.com",
    "A bad shop. 77 comments on it.",
    "The badshop-77 dot commits are fine",
)


@pytest.fixture
def outcome(submit, block, classifier):
    classifier.answer = ModelOutput(p_spam=0.01)
    block(EntryKind.DOMAIN, DOMAIN)
    return lambda text, **author: submit(text=text, author=author).verdict.outcome


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_blocked_domain_is_seen_in_every_spelling(outcome, text):
    assert outcome(text) == "spam"


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_the_domain_is_left_alone(outcome, text):
    assert outcome(text) != "spam"


@pytest.mark.parametrize(
    "author",
    [
        {"url": "https://badshop-77%2Ecom"},
        {"url": "https://www.google.com/url?q=https%3A%2F%2Fbadshop-77.com"},
        {"name": "badshop-77 [dot] com"},
    ],
)
def test_the_authors_own_address_and_name_count(outcome, author):
    assert outcome("Thanks, that helped.", **author) == "spam"


@pytest.mark.parametrize(
    "part",
    ["a", "a.", "//a@", "> a.b\n", "a [dot] ", "%25", "。", "&amp;", "-_.", " .", "字.", "@"],
)
def test_a_megabyte_is_read_in_linear_time(part):
    start = time.process_time()
    named_hosts((part * (1_000_000 // len(part) + 1))[:1_000_000])

    assert time.process_time() - start < 8.0
