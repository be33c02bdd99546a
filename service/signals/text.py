"""Cuts a text into words, sentences, code and quotations, and undoes its disguises."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from models.undisguise import HIDDEN, plain_letter, undisguise
from service.domain.text import unescape
from service.domain.unseen import INVISIBLE
from service.signals.wordlists import word_list

INLINE, BLOCK = "|".join(word_list("inline_tags")), "|".join(word_list("block_tags"))
BBCODE = re.compile(
    r"\[/?(?:b|i|u|s|url|img|code|list|size|color|font|center|left|right|align|email|spoiler|sup"
    r"|sub|li|ul|ol|table|tr|td|th|quote|details|\*)(?:=(?:\"[^\[\]\n]{0,300}|[^\[\]\s]{0,300}))?\]",
    re.IGNORECASE,
)
# "a < b" opens no tag; from "<" to the next one each character is read once.
_TAG = re.compile(
    rf"</?(?:(?P<block>{BLOCK})|{INLINE})(?:\s[^<>]*+)?/?>|<!--[^<>]*+>", re.IGNORECASE
)
_EMPHASIS = re.compile(r"[*\\`~]")


def without_markup(text: str) -> str:
    """Return the text without tags; a block's part words, others stand inside them unseen.

    Takes time linear in the length.
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: " " if tag["block"] else "", text)
    return _EMPHASIS.sub("", BBCODE.sub("", text) if "[" in text else text)


# Letters in squares and small capitals have no compatibility form.
PLAIN_CAPITALS = {
    code: plain
    for first, last in ((0x250, 0x2AF), (0x1D00, 0x1D22), (0xA730, 0xA731), (0x1F150, 0x1F189))
    for code in range(first, last + 1)
    if (plain := plain_letter(chr(code))) != chr(code)
}
# A redirector's target is encoded once, that of a redirector inside a redirector twice.
_MAX_DECODINGS = 3
_REVERSED = re.compile("\u202e([^\u202c\n]*)")
# Where a link of Markdown leads.
_TARGET = re.compile(r"(?<=\])(?:\([^()\n]*+\)|\[[^\[\]\n]*+\])")


def decode(text: str) -> str:
    """Return the text without percent-encoding, character references and hidden characters."""
    for _ in range(_MAX_DECODINGS):
        decoded = unquote(unescape(text))
        if decoded == text:
            break
        text = decoded
    # What was encoded may be hidden or of another width itself.
    return unicodedata.normalize("NFKC", NOT_SHOWN.sub("", text))


def turn(text: str) -> str:
    """Return the text with what an override shows from right to left as readers see it."""
    return _REVERSED.sub(lambda found: found[1][::-1], text)


def _marks_below(end: int) -> str:
    codes = map(chr, range(0x300, end))
    return "".join(char for char in codes if unicodedata.category(char) in {"Mn", "Mc"})


# Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han and Hangul: written without spaces, or with endings
# joined to the word, so each character counts as a word of its own.
ALONE = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Vowel signs and accents that Python counts as no letters: Indic scripts, Hebrew, Arabic, Latin.
MARKS = _marks_below(0xE00)
# They spell how a word sounds, or only draw it out, and most writers leave them out.
_LEFT_OUT = re.compile("[\u0307\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
# The two i of Turkish in either case; katakana's dot, fillers of Hangul and the hyphen and other
# marks of Hebrew stand between words.
_ALIKE = str.maketrans("\u0130\u0131\u30fb\u115f\u1160\u05be\u05c0\u05c3\u05c6", "ii" + " " * 7)
_ACCENT = re.compile("(?<=[\u0308\u0370-\u052f\u0600-\u06ff])[\u0301\u0653-\u0655]")
_CEDILLA = {0x327: 0x326}
# Persian keyboards and Arabic ones write yeh and kaf differently; most Russians write no yo.
_SPELT_ALIKE = str.maketrans("يىكёЁ", "ییکеЕ")
TO_CYRILLIC = str.maketrans("acehikmoptxy", "асеһікмортху")
_TO_GREEK = str.maketrans("abehikmnoptuvxyz", "αβεηικμνορτυνχυζ")
_GREEK = re.compile("[\u0370-\u03ff]")
_UNSPACED = re.compile(f"[{ALONE}]")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(rf"[{ALONE}]|[^\W_{ALONE}](?:[^\W_{ALONE}]|[{MARKS}])*+")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as it stands, without regard to case."""
    return tuple(_WORD.findall(text.casefold()))


def folded(text: str) -> str:
    """Return the text without what spellings of one word differ in: widths, vowel points."""
    return _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text).translate(_ALIKE))


def count_words(words: Sequence[str]) -> float:
    """Return how many words these are, of which a character alone is a part.

    A word of Chinese has two characters, one of the other scripts without spaces about three.
    """
    return sum(
        1 if not _UNSPACED.match(word) else 1 / 2 if _HAN.match(word) else 1 / 3 for word in words
    )


def is_unspaced(words: Sequence[str]) -> bool:
    """Return True if all words are characters of scripts without spaces between words."""
    return all(_UNSPACED.match(word) for word in words)


def readings_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a text as a person sees it, and as it stands where that differs.

    Takes time linear in the length.
    """
    bare = unescape(_TARGET.sub("", without_markup(text)))
    texts = dict.fromkeys((bare, decode(turn(bare)).translate(PLAIN_CAPITALS), text))
    plain = (undisguise(one).text for one in texts)
    return tuple(dict.fromkeys(map(alike_words, (*plain, text))))


def alike_words(text: str) -> tuple[str, ...]:
    """Return the words of a folded text without accents and letters in which spellings differ.

    Those are Greek and Russian stress, Russian yo, hamza and madda on Arabic letters, Arabic yeh
    and kaf for Persian ones, cedillas for Romanian commas, and Latin letters in a Cyrillic or a
    Greek word.
    """
    plain = folded(text)
    if not plain.isascii():
        bare = _ACCENT.sub("", unicodedata.normalize("NFD", plain))
        plain = unicodedata.normalize("NFC", bare.translate(_CEDILLA)).translate(_SPELT_ALIKE)
    return tuple(
        one
        if not MIXED.search(one)
        else one.translate(_TO_GREEK if _GREEK.search(one) else TO_CYRILLIC)
        for one in words_of(plain)
    )


_OTHER = "\u0370-\u03ff\u0400-\u04ff\u0531-\u0587"
MIXED = re.compile(f"[A-Za-z][{_OTHER}]|[{_OTHER}][A-Za-z]")
OTHER_LETTER = re.compile(f"[{_OTHER}]")
LATIN_LETTER = re.compile("[A-Za-z]")
# Letters that look Latin; a word whose foreign letters are all of these is in disguise.
LOOK_ALIKES = frozenset("аеорсухіјѕԁһԛԝвкмнтАВЕКМНОРСТУХІЈЅαοενρτυικχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")


# Mathematical alphabets, full-width forms, circled, squared and small-capital letters.
_STYLED = (
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u2460-\u2468\u24b6-\u24e9"
    "\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189\u1d00-\u1d22"
)
_ODD = re.compile(f"[{HIDDEN}{_STYLED}]")
# What nobody sees, and what writes letters in another way.
NOT_SHOWN = re.compile(f"[{HIDDEN}{INVISIBLE}]")
# Signs by name that are drawn as blanks, and marks that stand on a letter or on nothing.
_BLANK = (
    "\u2800\ufffc\U0001d159\x00-\x1f\x7f-\x9f"
    f"{MARKS}\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_VISIBLE = re.compile(f"[^\\s{INVISIBLE}{_BLANK}]")
# Sites take away what they do not know, but pictures, films and Markdown's links show something.
_EMPTY_TAG = re.compile(
    r"<(?:/?(?!(?:img|video|audio|iframe)\b|https?:|mailto:|[^\s<>@]*+@)[A-Za-z]|!--)[^<>]*+>",
    re.IGNORECASE,
)
_HIDDEN = re.compile(f"[{HIDDEN}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """A text without disguises; `offsets` is None if it equals the original."""

    text: str
    offsets: tuple[int, ...] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the segment of the original text that `[start, end)` of the plain text shows."""
        if self.offsets is None or start >= end:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def is_visible(text: str) -> bool:
    """Return True if a text has a visible character where HTML and BBCode are shown as such."""
    return _VISIBLE.search(unescape(_EMPTY_TAG.sub("", BBCODE.sub("", text)))) is not None


def plain_of(text: str) -> PlainText:
    """Return the text with hidden characters dropped and styled letters made ordinary."""
    if text.isascii() or not _ODD.search(text):
        return PlainText(text=text)
    kept: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(text):
        if not _HIDDEN.match(char):
            kept.append(plain_letter(char) if _ODD.match(char) else char)
            offsets.append(index)
    return PlainText(text="".join(kept), offsets=tuple(offsets))


Range = tuple[int, int]

# Every alternative either consumes what it scanned or scans a bounded segment: linear on any text.
# Lines indented by four spaces are left out: most comment forms show them as ordinary text.
_SHIELDED = re.compile(
    r"```.*?(?:```|\Z)"
    r"|<(?:code|pre|blockquote)(?:\s[^<>]{0,300})?>.*?(?:</(?:code|pre|blockquote)>|\Z)"
    r"|\[(?:code|quote)(?:=[^\[\]\n]{0,300})?\].*?(?:\[/(?:code|quote)\]|\Z)"
    r"|`[^`\n]{1,300}`"
    r"|(?m:^)[ ]{0,3}>[^\n]*",
    re.DOTALL | re.IGNORECASE,
)
_MAY_HOLD_ONE = re.compile(r"[`>\[]")
_LAST = 1 << 62


def shielded_ranges(text: str) -> tuple[Range, ...]:
    """Return the ranges of code and quotation, in order and without overlap."""
    if not _MAY_HOLD_ONE.search(text):
        return ()
    return tuple(m.span() for m in _SHIELDED.finditer(text))


def inside(ranges: Sequence[Range], position: int) -> bool:
    """Return True if a position lies in one of the ordered, separate ranges."""
    index = bisect_right(ranges, (position, _LAST)) - 1
    return index >= 0 and position < ranges[index][1]


# Vowel signs and accents that stand as characters of their own (Devanagari, Thai, Arabic, ...):
# Python counts them as no letters, which would cut words of those scripts to pieces.
_ALL_MARKS = _marks_below(0x1100)
_SPACED_WORD = re.compile(rf"[^\W_]++(?:[{_ALL_MARKS}\u200c\u200d]++[^\W_]*+|['’][^\W_]++)*+")


class Word(NamedTuple):
    """A word in lower case with where it stands; a tuple because comments have hundreds."""

    text: str
    start: int
    end: int


def find_words(text: str) -> list[Word]:
    """Return the words and numbers of a text in order.

    Scripts without spaces give one "word" a run of letters.
    """
    return [Word(m[0].lower().replace("’", "'"), *m.span()) for m in _SPACED_WORD.finditer(text)]


# Every alternative starts with its mark, so that the search can run from mark to mark; the
# look-behind keeps a long row of full stops from being scanned once from each of them.
_END = re.compile(
    r"[.!?…](?<![.!?…][.!?…])[.!?…]*+[\"'”’»)\]*]{0,3}+(?=\s|\Z)"
    r"|[.!?](?<=[a-zäöüéàñ)][.!?])(?=[A-Z][a-z])"
    r"|[。！？｡]++[」』”’）]{0,2}"
    r"|[।؟۔]++"
    r"|\n++"
)
_CAPITAL_AFTER = re.compile(r"[ )\]]{0,3} [-–—|]{0,2} ?[A-ZÄÖÜÉÀ]")
_WORD_BEFORE = re.compile(r"[^\s(\[\"“]{1,12}\Z")
_ABBREVIATIONS = word_list("abbreviations")


def find_sentences(text: str, keep_whole: Sequence[Range] = ()) -> tuple[Range, ...]:
    """Return the sentences as ranges without outer white space; none is empty.

    Nothing is cut inside a range of `keep_whole` (links). A line break always ends a sentence.
    So does a link before a capital letter: adverts glued to a remark often lack the full stop.
    """
    cuts = {m.end() for m in _END.finditer(text) if _ends_sentence(text, m, keep_whole)}
    cuts.update(end for _, end in keep_whole if _CAPITAL_AFTER.match(text, end))
    ranges: list[Range] = []
    start = 0
    for cut in (*sorted(cuts), len(text)):
        _add(ranges, text, start, cut)
        start = cut
    return tuple(ranges)


def _add(ranges: list[Range], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if any(char.isalnum() for char in stripped):
        begin = start + len(piece) - len(piece.lstrip())
        ranges.append((begin, begin + len(stripped)))
    elif stripped and ranges and "\n" not in text[ranges[-1][1] : end]:
        # Emoji and stray marks belong to the sentence they follow.
        ranges[-1] = (ranges[-1][0], start + len(piece.rstrip()))


def _ends_sentence(text: str, match: re.Match[str], keep_whole: Sequence[Range]) -> bool:
    if inside(keep_whole, match.start()):
        return False
    mark = match[0]
    if mark[0] == "…" or mark.startswith("..."):
        return not text[match.end() : match.end() + 2].strip()[:1].islower()
    if mark != ".":
        return True
    before = _WORD_BEFORE.search(text, max(0, match.start() - 12), match.start())
    word = before[0].lower() if before else ""
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    line_before = text[max(0, match.start() - 16) : match.start() - len(word)].rstrip(" ")
    is_number_of_item = word.isdigit() and (not line_before or line_before.endswith("\n"))
    return not is_number_of_item
