"""Texts are known again however a client escapes them."""

from __future__ import annotations

import pytest

from service.domain.text import content_key, unescape


@pytest.mark.parametrize(
    "form",
    [
        "It's <b>cheap</b> &amp; good",
        "It\\'s cheap & good",
        "IT&#039;S  cheap &amp; good\n",
    ],
)
def test_a_text_has_one_key_in_all_its_forms(form):
    assert content_key(form) == content_key("It's cheap & good")


@pytest.mark.parametrize("text", ["&#" + "1" * 5_000 + ";", "&#x" + "f" * 5_000, "&#" * 30_000])
def test_an_endless_number_is_no_reason_to_fail(text):
    assert len(content_key(text)) == 32


def test_entities_become_their_characters():
    assert unescape("&lt;a&gt; &#8217; &nosuch; &#99999999999;") == "<a> ’ &nosuch; \ufffd"
