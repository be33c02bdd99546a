"""https://github.com/webguyio/stop-spammers/issues/49: trades are known by whole words."""

from __future__ import annotations

import pytest

from service.domain.comment import Post
from service.domain.sender import History
from service.signals.detectors.words import offered_vice
from tests.factories import make_comment


def fires(text: str, title: str) -> bool:
    return offered_vice(make_comment(text, post=Post(title=title)), History()) is not None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Best loan here https://a-money.net", "Painting on sloane street"),
        ("Win at poker https://a-money.net", "A pokerfaced cat"),
        ("Free slot https://a-money.net", "A slotted screw"),
        ("Hot porn https://a-money.net", "Bleeding a radiator"),
        ("Free sex tonight https://a-money.net", "Essex in winter"),
    ],
)
def test_a_part_of_a_word_in_the_post_silences_nothing(text, title):
    assert fires(text, title)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The casino there is worth it https://a-notes.net", "Casinos of Monaco"),
        ("Our loan took a week https://a-notes.net", "How a loan works"),
        ("Sex ratio data: https://a-notes.net", "Sex ratios of turtles"),
        ("Bleeding it helped, see https://a-notes.net", "Bleeding a radiator"),
    ],
)
def test_what_the_post_is_about_is_no_sign(text, title):
    assert not fires(text, title)
