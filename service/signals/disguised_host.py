"""Sees a link whose host is written to look like another one, or hides its letters in a code."""

from __future__ import annotations

import unicodedata

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import suffix_of
from service.signals.links import Link
from service.signals.look_alikes import LATIN_LETTER, OTHER_LETTER, all_look_latin
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.wordset import wordset

_CODED = "xn--"
# RFC 1035; a longer label is none.
_MAX_LABEL_CHARS = 63
_MAX_TEXT_CHARS = 2_000
# What phishing copies most; four letters and fewer are left out, as too much looks like them.
_BRANDS = wordset(
    "paypal google gmail facebook amazon microsoft apple netflix instagram whatsapp telegram",
    "youtube twitter linkedin binance coinbase metamask ledger trezor steam roblox walmart",
    "adidas gucci rolex outlook dropbox github wellsfargo chase revolut booking airbnb spotify",
)
# Of these alone a whole name is made that passes for a Latin one; "москва" is no such name.
_LOWER_LOOK_ALIKES = frozenset("аеорсухіјѕԁһԛԝοανρυ")
_MAX_CHANCE_LETTERS = 2
_LETTERS = str.maketrans("01358", "oiesb")


def disguised_host(comment: Comment, _history: History) -> Signal | None:
    """Fire on hosts of look-alike letters or digits, and on coded ones of a script not used."""
    links = view_of(comment).open_links
    copies = [link for link in links if _copies_another(link)]
    coded = [link for link in links if _is_out_of_place(link, comment.text)]
    if not copies and not coded:
        return None
    return Signal(
        name="disguised_host",
        strength=1.0 if copies else 0.6,
        reason="links to a host whose letters only look like another name's"
        if copies
        else "links to a host in coded letters of a script that the comment does not use",
        spans=spans_of((link.start, link.end) for link in (*copies, *coded)),
    )


def _copies_another(link: Link) -> bool:
    if link.host.isascii() and _CODED not in link.host and link.domain.isalpha():
        return False
    suffix = suffix_of(link.host)
    if (
        suffix.isascii()
        and not suffix.startswith(_CODED)
        and any(_passes_for_latin(_decoded(label)) for label in link.host.split(".")[:-1])
    ):
        return True
    name = _decoded(link.domain.partition(".")[0])
    return any(_looks_like_brand(piece) for piece in name.split("-"))


def _passes_for_latin(label: str) -> bool:
    """Say whether the foreign letters of a label pass for Latin ones, beside such or alone."""
    foreign = OTHER_LETTER.findall(label)
    if not foreign:
        return False
    if LATIN_LETTER.search(label):
        return all_look_latin(foreign)
    return len(foreign) > _MAX_CHANCE_LETTERS and _LOWER_LOOK_ALIKES.issuperset(foreign)


def _looks_like_brand(name: str) -> bool:
    if name in _BRANDS or len(name) > _MAX_LABEL_CHARS:
        return False
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    plain = bare.translate(_LETTERS).replace("rn", "m").replace("vv", "w")
    return plain in _BRANDS or bare.replace("1", "l") in _BRANDS


def _decoded(label: str) -> str:
    """Return a label in its own letters (RFC 3492); one that cannot be decoded as it is."""
    if not label.startswith(_CODED) or len(label) > _MAX_LABEL_CHARS:
        return label
    try:
        return label.removeprefix(_CODED).encode("ascii").decode("punycode")
    except UnicodeError:
        return label


def _is_out_of_place(link: Link, text: str) -> bool:
    if _CODED not in link.host or not link.host.isascii():
        return False
    letters = "".join(_decoded(label) for label in link.host.split("."))
    scripts = {_script(char) for char in letters if not char.isascii()} - {"LATIN", ""}
    if not scripts:
        return False
    written = text[:_MAX_TEXT_CHARS]
    return not any(_script(char) in scripts for char in set(written) if not char.isascii())


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


DISGUISED_HOST = Detector(
    name="disguised_host",
    detect=disguised_host,
    fires_on=(
        Example(text="I had to confirm it at https://p\u0430yp\u0430l.com/login first"),
        Example(text="win a card at http://g00gle.com/card or https://micros0ft-help.com"),
        Example(text="More on this https://xn--80ak6aa92e.com/"),
        Example(text="Great tips, thank you! https://xn--80adxhks.xn--p1ai/valves"),
    ),
    silent_on=(
        Example(text="Die Öffnungszeiten stehen auf https://bäckerei-köhler.example.de"),
        Example(text="Все фото тут: https://xn--80adxhks.xn--p1ai/ и тут пример.рф"),
        Example(text="The old board is at http://web20forum.example.com and on google.com"),
        Example(text="https://fr.wikipedia.org/wiki/Caf%C3%A9 and http://müller.example.com"),
    ),
)
