"""Replaces disguised letters by the letters that people see, and keeps their offsets.

Spam evades word filters with letters that only look right (Unicode Technical Standard 39, "Unicode
Security Mechanisms", confusables). This undoes hidden characters, styled letters, lines and stacks
of marks over letters, letters held apart, look-alike letters of another alphabet inside Latin
words, and digits or signs in place of letters. Words wholly in another alphabet, links, mail
addresses and quoted code stay unchanged.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

# Zero-width characters, soft hyphens, direction marks, and the Unicode tags of hidden text.
HIDDEN = (
    "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff"
)
# Mathematical alphabets, full-width forms, letters in brackets, circles and squares. Not digits in
# circles, which number steps, nor those of East Asian widths, which are ordinary in Japanese.
_STYLED = (
    "\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d6a5\U0001d7ce-\U0001d7ff\u249c-\u24b5\u24b6-\u24e9"
    "\U0001f110-\U0001f129\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189"
)
# Small capitals, superscript letters, and mathematical letters of other blocks. Single ones are
# phonetics, footnotes and names of sets; three in a row are a word.
_STYLED_IN_A_ROW = (
    "\u1d00-\u1d22\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\ua730\ua731"
    "\u1d2c-\u1d6a\u1d9b-\u1dbf\u02b0-\u02b8\u02e1-\u02e3\u2071\u207f"
    "\u2102\u210a-\u2113\u2115\u2119-\u211d\u2124\u2128\u212c\u212d\u212f-\u2131\u2133\u2134"
)
# The letters from 1F150 and from 1F170 have no compatibility form.
_WITHOUT_FORM = (0x1F150, 0x1F170)
_SMALL_CAPITAL = re.compile("LATIN LETTER SMALL CAPITAL ([A-Z])")

# Three marks on one letter are more than most spellings need (Greek may need them), and so are
# marks on four letters in a row. No spelling has lines over, through and under letters. Marks of
# Hebrew, Arabic, Thai and the scripts of India are not among these and are never dropped.
_MARK = "\u0300-\u036f"
_LINES = "\u0305\u0332-\u0337\u033f"
_MARKED = re.compile(f"(?:[^\\W\\d_][{_MARK}]+){{4,}}")
# Emoji joined by a zero-width joiner are one picture; its first one stands for it (Unicode
# Technical Standard 51, "Unicode Emoji"). Letters in circles and squares are none.
_EMOJI = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff"
_JOINED = f"(?<=[{_EMOJI}\ufe0f])\u200d[{_EMOJI}]"
_ODD = re.compile(
    f"(?P<dropped>(?:{_JOINED}|[{HIDDEN}{_LINES}])+|(?<=[^\\W_])\u0338+"
    f"|(?<![\u0370-\u03ff\u1f00-\u1fff])[{_MARK}]{{3,}})"
    f"|(?P<row>[{_STYLED}{_STYLED_IN_A_ROW}]{{3,}})|(?P<styled>[{_STYLED}]+)"
)
# Finds rows of these quickly; `_ODD` tries every alternative at each character.
_ODD_ROW = re.compile(f"(?:{_JOINED}|[{HIDDEN}{_MARK}{_STYLED}{_STYLED_IN_A_ROW}])+")
_ONLY_HIDDEN = re.compile(f"(?:{_JOINED}|[{HIDDEN}])+")
_MARKS = re.compile(f"[{_MARK}]+")

_LETTER_OR_DIGIT = "A-Za-z0-9\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_MARKS_BETWEEN = " .*_|-"
_APART_HINT = re.compile(f"[{_MARKS_BETWEEN}]\\w([{_MARKS_BETWEEN}])\\w\\1\\w\\1")
_APART = re.compile(
    f"(?<![\\w.*-])[{_LETTER_OR_DIGIT}]([{_MARKS_BETWEEN}])[{_LETTER_OR_DIGIT}]"
    f"(?:\\1[{_LETTER_OR_DIGIT}])*(?![\\w*-])"
)
# Letters held apart by the same mark. Shorter rows are initials and abbreviations, except next to
# two words that are held apart.
_MIN_LETTERS_APART, _MIN_WORDS_APART = 5, 2
_MIN_LETTERS_BETWEEN_BLANKS = 3
# In longer rows the ends of words are lost, and joining makes no words: of 150 ham with a blank
# between all letters, 53 were judged spam without a limit, 15 with 40 letters, 7 with this one, and
# none unjoined.
_MAX_LETTERS_APART = 24
_NOTES = frozenset("abcdefgh")
_VOWEL = re.compile("[aeiouyаеиоуыэюя013!]", re.IGNORECASE)

# Letters and Roman numerals that no Latin word contains: Greek, Cyrillic, Armenian, N'Ko, Cherokee,
# Tai Le, New Tai Lue, Coptic.
_OTHER = (
    "\u0370-\u052f\u0531-\u0587\u07c0-\u07ff\u13a0-\u13f5\u1950-\u19df\u2160-\u217f\u2c80-\u2cf3"
)
_MIXED = re.compile(f"[{_OTHER}](?:[A-Za-z]|(?<=[A-Za-z].))")
_BEFORE_LATIN = re.compile(f"[{_OTHER}][A-Za-z]")
_WORD = re.compile(r"[^\W\d_]+")
_OTHER_LETTER = re.compile(f"[{_OTHER}]")
_LATIN_LETTER = re.compile("[A-Za-z]")
# Most of these occur in real spam, up to a dozen kinds in one comment.
_LOOK_ALIKES = str.maketrans(
    # Cyrillic
    "аеорсухіјѕԁһԛԝӏвкмнтгѡѵАВЕКМНОРСТУХІЈЅӀ"
    # Greek
    "αοενρτυικχϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    # Armenian, N'Ko, Tai Le, New Tai Lue, Coptic
    "օսցհոߋᥙᥱ᧐ⲟⲣⲥⲞⲢⲤ"
    # Cherokee
    "ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏔᏃ"
    # Roman numerals
    "ⅰⅴⅹⅼⅽⅾⅿⅠⅤⅩⅬⅭⅮⅯ",
    "aeopcyxijsdhqwlbkmhtrwvABEKMHOPCTYXIJSI"
    "aoevptuikxcABEZHIKMNOPTYX"
    "oughnoueoopcOPC"
    "ABCDEHJKLMPRSTVWWZ"
    "ivxlcdmIVXLCDM",
)
# Phonetics and African languages use these letters, but not next to disguised words.
_LATIN_LOOK_ALIKES = str.maketrans("ɑɡƅɦƊƬᴏᴠᴡᴢ", "agbhDTovwz")
_GREEK = re.compile("[\u0370-\u03ff]")
_MIN_MIXED_CHARS = 4
# Formulas use such letters for angles and constants.
_FUNCTION = re.compile(
    "(?:a|arc)?(?:sin|cos|tan|cot|sec|csc|sinh|cosh|tanh|log|ln|exp|lim|max|min)"
)

# "casin0" is a disguised word, "slot5" a numbered one.
_DIGIT_HINT = re.compile(r"[013457@$](?:[A-Za-z]|(?<=[A-Za-z][034])\b)")
_DIGIT_WORD = re.compile(
    r"(?<![\w@$.,+/#:=&?%~^-])(?![\d@$]+\b)[A-Za-z013457@$]{4,24}(?![\w@$-]|[.:/=]\w)"
)
_FORMS = (str.maketrans("1", "i"), str.maketrans("1", "l"))
_REST = str.maketrans("03457@$", "oeastas")
# Words of advertised trades that spam writes with digits and signs.
_HIDDEN_WORDS = frozenset(
    word
    for line in (
        "account accounts adult amazon bank betting binance bitcoin bonus buy buying capital card",
        "cards cash casino casinos cheap cheapest cialis click coin coins contact credit crypto",
        "cryptocurrency dating deal deals debt diet discount discounts doctor dollar dollars drug",
        "drugs earn earning earnings email escort escorts essay essays exchange expert facebook",
        "finance followers forex free gambling girls gmail gold guarantee guaranteed hacker",
        "hacking herbal hookup income instagram invest investing investment investments investor",
        "jackpot levitra limited loan loans lottery medication medicine million money mortgage",
        "naked nude nudes offer offers online order orders paypal payday payment payments",
        "pharmacy pills poker porn porno price prices profit profits promo replica rolex sale",
        "sales seo service services sexy shipping shop slots store subscribe supplement",
        "supplements telegram tramadol trader traders trading traffic verified viagra video",
        "videos viral visit wallet website weight whatsapp winner winners xanax youtube zolpidem",
    )
    for word in line.split()
)
# One such word is a name; three, and one word in five, are leetspeak.
_MIN_WORDS_IN_DIGITS, _WORDS_A_WORD_IN_DIGITS = 3, 5
_INNER_DIGIT = re.compile("[A-Za-z][013457@$]{1,2}[A-Za-z]")
_PLAIN_VOWEL = re.compile("[aeiouy]")
_MANY_CONSONANTS = re.compile("[^aeiouy]{5}")
_HEX = re.compile("[0-9a-f]+", re.IGNORECASE)

# Bounded, so that no text causes long backtracking.
_SHIELDED = re.compile(
    r"(?:https?://|\bwww\.)\S{1,2000}|`[^`\n]{1,300}`|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.\w",
    re.IGNORECASE,
)

_Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """A text without disguises; offsets are those of Python strings, half-open.

    Character `i` of `text` stands for `original[offsets[i]:offsets[i + 1]]`, so `offsets` has one
    number more than `text` has characters. Dropped characters belong to the previous character.
    `n_disguised` counts the replaced segments without hidden characters, because those include
    joiners of emoji.
    """

    text: str
    offsets: Sequence[int]
    n_disguised: int = 0

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the original's segment for `[start, end)` of the plain text."""
        return self.offsets[start], self.offsets[end]


def undisguise(text: str) -> PlainText:
    """Return the text as people see it; an ordinary text stays unchanged.

    Takes linear time. A text of hidden characters alone becomes empty.
    """
    plain = PlainText(text=text, offsets=range(len(text) + 1))
    if not text.isascii() and _ODD_ROW.search(text):
        if _MARKS.search(text):
            plain = _edited(plain, _marks(text))
        plain = _edited(plain, _plain_characters(plain.text))
    if _APART_HINT.search(plain.text):
        plain = _edited(plain, _open(plain.text, _joined_letters))
    if not plain.text.isascii() and _MIXED.search(plain.text):
        plain = _edited(plain, _open(plain.text, _latin_letters))
    if _DIGIT_HINT.search(plain.text):
        plain = _edited(plain, _open(plain.text, _letters_for_digits))
    return plain


def _edited(plain: PlainText, edits: Iterable[_Edit]) -> PlainText:
    """Return the text with each segment removed or replaced by as many characters."""
    parts: list[str] = []
    offsets: list[int] = []
    last, count = 0, plain.n_disguised
    for start, end, new in edits:
        count += bool(new) or not _ONLY_HIDDEN.fullmatch(plain.text, start, end)
        parts += plain.text[last:start], new
        offsets += plain.offsets[last : start + len(new)]
        last = end
    if not last:
        return plain
    parts.append(plain.text[last:])
    offsets += plain.offsets[last:]
    offsets[0] = plain.offsets[0]
    return PlainText(text="".join(parts), offsets=offsets, n_disguised=count)


def _open(text: str, find: Callable[[str], Iterable[_Edit]]) -> Iterator[_Edit]:
    """Yield the edits outside links, mail addresses and quoted code."""
    edits = list(find(text))
    shields = _SHIELDED.finditer(text) if edits else iter(())
    shield = next(shields, None)
    for edit in edits:
        while shield and shield.end() <= edit[0]:
            shield = next(shields, None)
        if not shield or edit[1] <= shield.start():
            yield edit


def _marks(text: str) -> Iterator[_Edit]:
    for run in _MARKED.finditer(text):
        for marks in _MARKS.finditer(text, *run.span()):
            yield *marks.span(), ""


def _plain_characters(text: str) -> Iterator[_Edit]:
    for row in _ODD_ROW.finditer(text):
        for odd in _ODD.finditer(text, *row.span()):
            dropped = odd.lastgroup == "dropped"
            yield *odd.span(), "" if dropped else "".join(map(plain_letter, odd[0]))


def plain_letter(char: str) -> str:
    """Return the ordinary letter or digit of a styled one; other characters stay unchanged."""
    for base in _WITHOUT_FORM:
        if base <= ord(char) < base + 26:
            return chr(ord("A") + ord(char) - base)
    if small := _SMALL_CAPITAL.fullmatch(unicodedata.name(char, "")):
        return small[1].lower()
    plain = unicodedata.normalize("NFKC", char).strip("()")
    return plain if len(plain) == 1 else char


def _joined_letters(text: str) -> Iterator[_Edit]:
    """Yield the marks between letters held apart, except before a new capital letter."""
    rows = [(row, row[0][::2]) for row in _APART.finditer(text)]
    words_by_mark = Counter(row[1] for row, letters in rows if _spells(letters))
    for row, letters in rows:
        beside = words_by_mark[row[1]] >= _MIN_WORDS_APART and _is_short_word(letters, row[1])
        if not beside and not _spells(letters):
            continue
        for place in range(row.start() + 1, row.end(), 2):
            if not (text[place - 1].islower() and text[place + 1].isupper()):
                yield place, place + 1, ""


def _is_short_word(letters: str, mark: str) -> bool:
    fewest = _MIN_LETTERS_BETWEEN_BLANKS if mark == " " else 2
    return fewest <= len(letters) < _MIN_LETTERS_APART and letters.isalpha()


def _spells(run: str) -> bool:
    """Return True for a word; False for tunings (D A D G A D), the alphabet, sums and rows."""
    if not _MIN_LETTERS_APART <= len(run) <= _MAX_LETTERS_APART:
        return False
    letters = list(run.lower())
    different = set(letters)
    return (
        len(different) > 3
        and not different <= _NOTES
        and letters != sorted(letters)
        and sum(map(str.isdigit, letters)) * 2 < len(letters)
        and bool(_VOWEL.search(run))
    )


def _latin_letters(text: str) -> Iterator[_Edit]:
    words = [(m, _OTHER_LETTER.findall(m[0])) for m in _WORD.finditer(text)]
    if not any(_is_mixed(m[0], foreign) for m, foreign in words if foreign):
        return
    # A single Latin letter by mistake in a text of the other alphabet is no disguise.
    own_use = any(f and not _LATIN_LETTER.search(m[0]) and not _look_latin(f) for m, f in words)
    for match, foreign in words:
        word = match[0]
        if own_use and not _is_mixed_inside(word, foreign):
            continue
        plain = word.translate(_LOOK_ALIKES).translate(_LATIN_LOOK_ALIKES)
        if plain != word and _LATIN_LETTER.search(word) and not _in_host(text, match):
            yield *match.span(), plain


def _look_latin(letters: Sequence[str]) -> bool:
    return all(ord(letter) in _LOOK_ALIKES for letter in letters)


def _is_mixed(word: str, foreign: Sequence[str]) -> bool:
    """Return True if a word mixes Latin with look-alike letters and is not a formula."""
    latin = len(_LATIN_LETTER.findall(word))
    if len(word) < _MIN_MIXED_CHARS or not latin or not _look_latin(foreign):
        return False
    return not (_GREEK.search(word) and _FUNCTION.match(word) and len(foreign) == 1)


def _is_mixed_inside(word: str, foreign: Sequence[str]) -> bool:
    """Return True if a mixed word is mostly Latin, not only inflected in the other script."""
    latin = len(_LATIN_LETTER.findall(word))
    has_inside = bool(_BEFORE_LATIN.search(word))
    return has_inside and latin >= len(foreign) and _is_mixed(word, foreign)


def _in_host(text: str, word: re.Match[str]) -> bool:
    before, after = text[word.start() - 1 : word.start()], text[word.end() : word.end() + 2]
    return before in {".", "@", "/"} or (after[:1] in {".", "@"} and after[1:].isalnum())


def _letters_for_digits(text: str) -> Iterator[_Edit]:
    found = [m for m in _DIGIT_WORD.finditer(text) if _DIGIT_HINT.search(m[0])]
    readings = [(m, _hidden_word(m[0]) or "", _as_letters(m[0])) for m in found]
    styled = sum(bool(known or likely) for _, known, likely in readings)
    is_style = styled >= _MIN_WORDS_IN_DIGITS and styled * _WORDS_A_WORD_IN_DIGITS >= len(
        _WORD.findall(text)
    )
    for match, known, likely in readings:
        if new := known or (likely if is_style else ""):
            yield *match.span(), new


def _hidden_word(word: str) -> str | None:
    """Return the word of a trade that digits and signs hide, in lower case, or None."""
    if _HEX.fullmatch(word):
        return None
    for one in _FORMS:
        read = word.lower().translate(one).translate(_REST)
        if read in _HIDDEN_WORDS and read != word.lower():
            return read
    return None


def _as_letters(word: str) -> str:
    """Return the word with digits read as vowels, empty if they do not stand between letters."""
    letters = sum(map(str.isalpha, word))
    if not _INNER_DIGIT.search(word) or letters * 2 < len(word) or _HEX.fullmatch(word):
        return ""
    read = word.lower().translate(_FORMS[0]).translate(_REST)
    sound = _PLAIN_VOWEL.search(read) and not _MANY_CONSONANTS.search(read)
    return read if sound and read.isalpha() else ""
