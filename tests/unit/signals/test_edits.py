"""An edit is measured by what was approved: spelling keeps it, an offer or a contact does not."""

import time
import tomllib
from pathlib import Path

import pytest

from service.domain.comment import Author, Post
from service.signals.edits import measure, ruled_text
from tests.factories import make_comment

EDITS = tomllib.loads(Path(__file__).with_name("edits.toml").read_text("utf-8"))
THANKS = "The third valve was stuck, the drawing helped us find it. Thank you for this."
SALE = "I sell my Vaillant boiler, {}, 9,500 hours, pick up only, mail k@posteo.de or call {}."


def keeps(before: str, after: str, *, name: str = "Mara", post: str | None = None) -> bool:
    old = make_comment(before, site_comment_id="w")
    new = make_comment(after, site_comment_id="w", author=Author(name=name), post=Post(url=post))
    change = measure(ruled_text(old, approved=True, by="Ada"), new)
    return change.is_small and not change.opens_way


@pytest.mark.parametrize("price", EDITS["prices"].split("|"))
@pytest.mark.parametrize("phone", EDITS["phones"].split("|"))
def test_a_number_is_the_same_however_it_is_written(price, phone):
    plain, written = SALE.format("2400 euro", "0176 5550123"), SALE.format(price, phone)
    assert keeps(plain, written)
    assert keeps(written, plain.replace("9,500", "9500"))
    assert not keeps(written, SALE.format("3,400 euro", phone))
    assert not keeps(written, SALE.format(price, "0176 5550199"))


@pytest.mark.parametrize("text", EDITS["apostrophes"])
@pytest.mark.parametrize("mark", "'’ʼ´")
def test_an_apostrophe_is_spelling(text, mark):
    assert keeps(text.replace("'", ""), text.replace("'", mark))
    assert keeps(text.replace("'", mark), text.replace("'", ""))


@pytest.mark.parametrize("typo", ["discout", "dishcount", "disvount", "dicsount"])
def test_a_corrected_typo_is_no_offer(typo):
    assert keeps(f"{THANKS} No {typo}, though.", f"{THANKS} No discount, though.")


ADDED = [(kind, one) for kind, ones in EDITS["added"].items() for one in ones.split("|")]


@pytest.mark.parametrize(("kind", "added"), ADDED)
def test_what_is_added_to_text_or_name_is_judged_if_it_leads_elsewhere(kind, added):
    text, name = (THANKS, added) if "name" in kind else (f"{THANKS} {added}", "Mara")
    assert keeps(THANKS, text, name=name) is ("kept" in kind)


@pytest.mark.parametrize(
    ("post", "link", "kept"),
    [
        ("https://my-blog.org/p", "https://www.my-blog.org/q", True),
        ("https://my-blog.org/p", "[q](https://forum.my-blog.org/q)", True),
        ("https://blog.example/p", "https://blog.example/out?to=https://pills.com/q", False),
        ("https://blog.example/p", "https://blog.example@pills.com/q", False),
        ("https://mara.github.io/p", "https://mara.github.io/q", True),
        ("https://mara.github.io/p", "https://ruth.github.io/q", False),
        ("https://github.io/p", "https://ruth.github.io/q", False),
        ("/p", "https://blog.example/q", False),
    ],
)
def test_a_link_to_the_post_s_own_site_leads_nowhere_else(post, link, kept):
    assert keeps(THANKS, f"{THANKS} See {link}", post=post) is kept


@pytest.mark.parametrize("piece", ["1,", "a'", "00,", "call a b 1 ", "line a.", "me on ", "1g"])
def test_hostile_edits_take_linear_time(piece):
    since = time.process_time()
    keeps(THANKS, piece * (60_000 // len(piece)))
    assert time.process_time() - since < 4
