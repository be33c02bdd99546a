"""Measures an edit by the text that a person ruled on: what is new in it, and what is gone."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from urllib.parse import unquote

from models.undisguise import HIDDEN, undisguise
from service.domain.comment import Comment, RuledText
from service.domain.delivery import unversioned
from service.domain.text import unescape
from service.domain.unseen import REGION_FLAG
from service.signals.contacts import DATE, ContactKind, find_contacts, own_digits
from service.signals.cues import Cue, find_cues
from service.signals.hosts import domain_of, host_of, named_hosts, registered_domain
from service.signals.links import find_links
from service.signals.offers import links, offers
from service.signals.segments import BRAND, PRICE
from service.signals.text import (
    BBCODE,
    BLOCK,
    INLINE,
    count_words,
    find_words,
    folded,
    is_unspaced,
    words_of,
)
from service.signals.view import view_of_text
from service.signals.wordlists import LISTS, any_of, word_list, wordset

# "Edit: fixed the link, sorry." has five words. Five that name no link, contact, price, product or
# offer lead nobody anywhere; one word in ten more is what people correct in a longer text. With
# twenty another paragraph begins.
_FEW_WORDS, _FEW_OF, _MOST_WORDS = 5, 10, 20
# A text of which less than half is left is no longer the one that was ruled on.
_LEAST_KEPT = 0.5

_VALUE = r"\s{0,4}=\s{0,4}(?:\"[^\"<>]{0,2000}\"|'[^'<>]{0,2000}'|[^\s<>\"']{1,2000})"
_TAG = re.compile(
    rf"</?(?:(?P<inline>{INLINE})|{BLOCK}|img)"
    rf"(?P<attributes>(?:\s{{1,9}}[a-z-]{{1,20}}{_VALUE}){{0,20}})\s{{0,9}}/?>",
    re.IGNORECASE,
)
# Readers see what these say; the values of others are looks or links.
_SAID = re.compile(rf"\s(?:alt|title)({_VALUE})", re.IGNORECASE)
# Numbers of a list, a fence with its language, a box to tick, a footnote's mark.
_MARKDOWN = re.compile(
    r"^[ \t]{0,8}(?:\d{1,3}[.)](?=\s)|(?:```|~~~)[\w+-]{0,20})|\[[ xX]\](?=\s)|\[\^[\w-]{1,20}\]",
    re.MULTILINE,
)
_VOWELS = frozenset("aeiouyаеёиоуыэюяіїєαεηιουω")
_LEAST_LETTERS, _MOST_LETTERS, _LEAST_CONSONANTS = 4, 20, 2
_LETTERS = "abcdefghijklmnopqrstuvwxyzабвгдежзийклмнопрстуфхцчшщъыьэюя"
# Letters that differ in more than a mark, and those of Arabic that other keyboards type in Persian.
_TYPED = str.maketrans("đłøıيىكأإآة", "dloiییکاااه")
# Behind a telephone's word a number may be short: "tel 555-1234".
_LONG_NUMBER = re.compile(
    r"\d{5,}|(?<![A-Za-z])[+(]?\d(?:[ \u00a0().–/-]{0,2}\d){7,20}(?![A-Za-z])"
    rf"|(?<!\w)(?P<label>(?i:{'|'.join(word_list('phone_words') | word_list('phone_labels'))})"
    r"[^\W\d]{0,9}\W{0,4}(?:[^\W\d]{1,9}\W{1,3}){0,3})"
    r"(?!(?:19|20)\d\d[ ./-]\d\d(?!\d))\d(?:[ \u00a0().–/-]{0,2}\d){5,20}"
)
# Not the one whom a reply addresses. Accounts of coins have digits and more letters than a hash,
# names at Discord four digits as issues do.
_NAME = r"(?<=[^\w.])@[\w.-]{3,40}"
_NAMED = re.compile(
    rf"{_NAME}|(?<!\w)(?i:0x[\da-f]{{40}}"
    r"|(?=[a-z]{0,60}\d)(?=[a-f\d]{0,60}[g-z])[a-z\d]{26,100}"
    r"|(?<!/)(?!(?:bug|gh|issue|line|mr|no|nr|pr|section|ticket)#)[\w.]{2,32}#\d{4})(?!\w)"
)
# The code of an offer ends with digits: "RUTH20".
_CODE = re.compile(
    r"(?<!\w)(?<!error )(?:code|código|codice|k[oó]d|coupon|kupon|cup[oó][nm]|voucher|код|コード)"
    r"[\W_]{1,5}([^\W\d_]{3,12}\d{1,3})(?!\w)",
    re.IGNORECASE,
)
_UNSEEN = re.compile(f"{REGION_FLAG}|([{HIDDEN}]{{3,}}|[\u202d\u202e]|<!--(?! /?wp:)[^<>]*+>)")
# A mail address may be written in words.
_NO_NAME = re.compile(r"\W|(?<=\W)(?:at|dot|punkt|punto|point|arroba)(?=\W)")
_NO_TARGET = re.compile(r"#(?!!).*|(?<=[?&])(?:utm_\w+|fbclid|gclid)=[^&#]*&?")
# With the digits before and after.
_PRICE = re.compile(rf"[\d.,]{{0,12}}(?:{PRICE.pattern})[\d.,]{{0,12}}")
# What spellings of one word or number differ in: an apostrophe, a mark between thousands, zeros
# behind the point. Of several apostrophes in a word only the last is none: they hold words apart.
_INNER = re.compile(
    r"(?<=[^\W_])['´ʼ‘’′＇](?=[^\W_])(?![^\W_]{1,20}['´ʼ‘’′＇][^\W_])"
    r"|(?<=\d)(?<!\d{4})[ \u00a0\u2009\u202f.,'’](?=(?:\d\d,){0,3}\d{3}(?!\d))"
    r"|(?<=\d)(?<![.,]\d\d)(?:[.,]0+|(?<=[.,]\d)0)(?![\d.,]?\d)"
)
_CURRENCY = "euros?|eur|usd|gbp|chf|inr|rs|kr|kč|zł|tl|lei|руб|грн|лв"
_UNIT = re.compile(rf"\b(\d+(?=(?:{_CURRENCY})\b)|(?:{_CURRENCY})(?=\d))", re.IGNORECASE)
_SCHEME = re.compile(r"\A(?:[a-z]{1,9}:)?(?://)?(?:www\.)?", re.IGNORECASE)
# Words that are far more often themselves than a messenger count with a name behind them.
_MESSENGERS = word_list("messengers") - {"line", "signal", "ig", "wa"}
_APPROACH = any_of(**LISTS["approach"])
_TRADES = word_list("trade_words") | word_list("trades_in_names")
# Beside the cue of those who speak for themselves: "contact us", "link in bio".
_WRITER = wordset("us our link notre unsere unserer nuestra nuestro nostro nosso onze ons oss")
# Nor is part of a name code or a quotation.
_PEOPLE = any_of(LISTS["names_of_people"], [r"[`<>\[]"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an edit did to the text that was ruled on; a corrected spelling is no new word."""

    new_words: int
    is_small: bool
    opens_way: bool
    closes_way: bool


def ruled_text(comment: Comment, *, approved: bool, by: str) -> RuledText:
    """Return the digests that are kept of a text on which a moderator decided."""
    digest = _Digest(comment)
    words = _words(comment)
    return RuledText(
        approved=approved,
        by=by,
        words=tuple(map(digest, words)),
        spellings=tuple(digest.spelling(word) for word in words),
        ways=tuple(sorted({digest(way) for way in _ways(comment)})),
        domains=tuple(sorted(map(digest, links(comment)))),
        offers=offers(comment),
    )


def measure(ruled: RuledText, shown: Comment) -> Change:
    """Return the changes of a comment since the text that was ruled on."""
    digest = _Digest(shown)
    words = _words(shown)
    left = Counter(ruled.words)
    unknown = [word for word in words if not _take(left, digest(word))]
    # Of more, none needs the many digests: there are too many new words anyway.
    if len(unknown) <= _MOST_WORDS:
        unknown = [one for one in unknown if not any(_take(left, key) for key in digest.typos(one))]
    spellings = zip(ruled.words, ruled.spellings, strict=True)
    gone = Counter(spelling for known, spelling in spellings if _take(left, known))
    # 0 is no spelling.
    unspelt = gone.pop(0, 0)
    new = [word for word in unknown if not _take(gone, digest.spelling(word))]
    ways = {digest(way) for way in _ways(shown)}
    # A name is a way to somebody where something is sold; "thanks @mara" is none.
    opened = ways if offers(shown) else ways.difference(map(digest, _names(shown)))
    added = count_words(new)
    few = min(_MOST_WORDS, max(_FEW_WORDS, (count_words(words) - added) // _FEW_OF))
    # "It was the second valve, not the third" says three words that are not there yet.
    known = set(ruled.words)
    unsaid = [one for one in new if is_unspaced([one]) or digest(one) not in known]
    return Change(
        new_words=math.ceil(added),
        is_small=added <= _MOST_WORDS
        and count_words(unsaid) <= few
        and gone.total() + unspelt <= (1 - _LEAST_KEPT) * len(ruled.words),
        opens_way=not opened <= set(ruled.ways)
        or _names_host(shown, frozenset(new))
        or _sells(shown, frozenset(new)),
        closes_way=not ways >= set(ruled.ways),
    )


def _take(counted: Counter[int], key: int) -> bool:
    """Return True if one of a key is left, and take it away."""
    is_left = counted[key] > 0
    counted[key] -= is_left
    return is_left


def added_link(ruled: RuledText, shown: Comment) -> bool:
    """Return True if a comment links to a domain that the text that was ruled on did not."""
    return not {_Digest(shown)(domain) for domain in links(shown)} <= set(ruled.domains)


class _Digest:
    """Digests words of one comment's versions; another comment's differ."""

    def __init__(self, comment: Comment) -> None:
        own_id = unversioned(comment.site_comment_id or "")
        self._salt = hashlib.blake2b(
            f"{comment.site_id}\0{own_id}".encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()

    def __call__(self, text: str) -> int:
        encoded = text.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(encoded, digest_size=4, key=self._salt).digest())

    def spelling(self, word: str) -> int:
        """Return a digest of a word's different consonants, or of all letters if it has too few.

        Letters doubled, left out, swapped, vowels and accents mistaken are most of what people
        misspell. A number has none: 0.
        """
        plain = unicodedata.normalize("NFKD", word.translate(_TYPED))
        letters = [char for char in plain if char.isalpha()]
        consonants = sorted(set(letters) - _VOWELS)
        if len(letters) < _LEAST_LETTERS or len(consonants) < _LEAST_CONSONANTS:
            return self("".join(letters)) if letters else 0
        return self("".join(consonants))

    def typos(self, word: str) -> Iterator[int]:
        """Yield digests of a word with a letter left out, added or mistaken.

        A number has none, nor has a trade that lives on spam.
        """
        trades = (hit.cue is Cue.VICE for hit in find_cues(word, find_words(word)))
        if word.isalpha() and _LEAST_LETTERS <= len(word) <= _MOST_LETTERS and not any(trades):
            for at, letter in product(range(len(word) + 1), ("", *_LETTERS)):
                yield self(word[:at] + letter + word[at:])
                yield self(word[:at] + letter + word[at + 1 :])


def _words(comment: Comment) -> list[str]:
    """Return the words that readers see: without markup, targets of links and case."""
    text, parts, end = comment.text, [comment.author.name or ""], 0
    for link in find_links(text):
        shown = _TAG.sub(_said, link.anchor or "").strip()
        # A bare address has no words, whether or not a program made it a link.
        is_address = host_of(shown) and len(shown.split()) == 1
        parts += text[end : link.start], "" if is_address else link.anchor or ""
        end = link.end
    seen = _TAG.sub(_said, " ".join((*parts, text[end:])))
    seen = undisguise(unescape(_MARKDOWN.sub(" ", BBCODE.sub(" ", seen)))).text
    seen = _LONG_NUMBER.sub(lambda one: f"{one['label'] or ''}{own_digits(one[0])} ", seen)
    return list(_folded_words(seen))


def _said(tag: re.Match[str]) -> str:
    """Return the text that readers see in place of a tag; nothing for an inline tag."""
    said = " ".join(_SAID.findall(tag["attributes"]))
    return f" {said} " if said or not tag["inline"] else ""


def _ways(comment: Comment) -> Iterator[str]:
    """Yield a comment's targets outside the post's own site, and its invisible text."""
    own = domain_of(host_of(comment.post.url or ""))
    # Editors write blanks as "&nbsp;", keyboards of East Asia a wide "@".
    text = unescape(f"{comment.text}\n{comment.author.name or ''}").replace("＠", "@")
    for contact in find_contacts(text, view_of_text(text).word_set):
        start, end = contact.start, contact.end
        if contact.kind is ContactKind.PHONE:
            yield own_digits(text[start:end])
        else:
            yield _NO_NAME.sub("", text[start:end]).casefold()
        if contact.kind is ContactKind.EMAIL:
            # Its domain is none of the links.
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    targets = (comment.author.url or "", *(link.target for link in find_links(text)))
    abroad = (one for one in targets if not own or domain_of(host_of(one)) != own)
    yield from filter(None, map(_way, abroad))
    for host in named_hosts(text):
        if registered_domain(host) and domain_of(host) != own:
            yield host.removeprefix("www.")
    for found in _LONG_NUMBER.finditer(_INNER.sub("", unicodedata.normalize("NFKC", text))):
        if not DATE.search(found[0]):
            yield own_digits(found[0])
    for pattern in (_NAMED, _CODE, _UNSEEN):
        yield from (one.casefold() for one in pattern.findall(text) if one)


def _names(comment: Comment) -> Iterator[str]:
    """Yield the `@names` of a comment's text as `_ways` does."""
    return (one.casefold() for one in re.findall(_NAME, comment.text))


def _names_host(shown: Comment, new: frozenset[str]) -> bool:
    """Return True if new words may be meant as a host ("warmparts24,com"), but not the post's.

    Of what an approval keeps, nothing is compared: what is read so loosely is often no host.
    """
    own = domain_of(host_of(shown.post.url or ""))
    text = f"{shown.text}\n{shown.author.name or ''}"
    return bool(new) and any(
        registered_domain(host) and domain_of(host) != own and new.issuperset(words_of(host))
        for host in named_hosts(text, loosely=True)
    )


def _way(target: str) -> str:
    """Return an address without scheme, `www.`, fragment and what counts the readers."""
    plain = unquote(unescape(target)).casefold()
    return _NO_TARGET.sub("", _SCHEME.sub("", plain)).rstrip("/?&")


def _sells(shown: Comment, new: frozenset[str]) -> bool:
    """Return True if a new word is part of an offer, a product's name or a messenger's.

    So is a new price where something is sold or in the author's name, and a call to the writer
    ("DM me") whose words are all new.
    """
    if not new:
        return False
    name = undisguise(_PEOPLE.sub(" ", shown.author.name or "")).text
    view = view_of_text(f"{name}\n{undisguise(shown.text).text}")
    text = view.plain.text
    hits = [(hit.cue, _folded_words(text[hit.start : hit.end])) for hit in view.cues]
    parts = [words for cue, words in hits if cue in (Cue.OFFER, Cue.VICE)]
    parts += [_folded_words(found[0]) for found in BRAND.finditer(shown.text)]
    own = _WRITER.union(*(words for cue, words in hits if cue is Cue.ME))
    calls = [w for cue, w in hits if cue is Cue.CALL and len(w) > 1 and not own.isdisjoint(w)]
    calls += [_folded_words(found[0]) for found in _APPROACH.finditer(text)]
    priced = _INNER.sub("", text if offers(shown) else name)
    prices = "\n".join(found[0] for found in _PRICE.finditer(priced))
    numbers = [word for word in _folded_words(prices) if not word.isalpha()]
    sold = _MESSENGERS.union(_TRADES.intersection(_folded_words(name)), numbers, *parts)
    return not new.isdisjoint(sold) or any(map(new.issuperset, calls))


def _folded_words(text: str) -> tuple[str, ...]:
    return words_of(_UNIT.sub(r"\1 ", folded(_INNER.sub("", text))))
