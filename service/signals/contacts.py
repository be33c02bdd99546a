"""Finds ways to reach somebody outside the site: mail addresses, telephone numbers, handles."""

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from service.signals.text import Range, inside
from service.signals.wordlists import LISTS, word_list, wordset

# A comment with more contacts than this is judged by its first ones.
_MAX_CONTACTS = 50


class ContactKind(StrEnum):
    EMAIL = "an e-mail address"
    PHONE = "a telephone number"
    HANDLE = "a messenger contact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    kind: ContactKind
    start: int
    end: int


_PROVIDERS = word_list("mail_providers")
# "<email>" and "<phone>" are what exports of moderated comments leave in place of the real ones.
_EMAIL = re.compile(
    # What follows another "@" or a group's "!" is a handle of the fediverse, but for the mail of a
    # big provider.
    r"(?<![\w.+-])(?:(?<!@)(?<!(?<!\w)!)|(?=[\w.+-]{1,64}@(?:gmail|googlemail|yahoo|hotmail|outlook|proton"
    r"|protonmail|icloud|yandex|mail|gmx|aol|163|qq)\.))[A-Za-z0-9][\w.+-]{0,63}"
    r"@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{2,63}){1,4}"
    r"|<email>"
    r"|(?<![\w.+-])[A-Za-z0-9][\w.+-]{2,63} ?[(\[{<] ?(?:at|@|arroba|arobase|chiocciola|собака"
    r"|małpa|zavináč) ?[)\]}>] ?[A-Za-z0-9-]{2,63} ?"
    r"(?:\.|[(\[{<] ?(?:dot|punkt|punto|ponto|point) ?[)\]}>]| dot ) ?[A-Za-z]{2,18}"
    r"|(?<![\w.+-])[A-Za-z0-9][\w.+-]{2,63} (?:AT|at|@|arroba|arobase|παπάκι) "
    rf"(?:{'|'.join(sorted(_PROVIDERS))}) ?(?:\.|dot|DOT) ?[A-Za-z]{{2,18}}",
)
# The look-behind comes second, so that the search can run from one digit to the next.
_PHONE = re.compile(
    r"[+(\d](?<![\w.,/:-].)[\d \u00a0().-]{7,23}\d(?![\w/:]|[.,-]\d)|<phone>", re.DOTALL
)
_PHONE_WORD = re.compile(
    rf"(?:{'|'.join(word_list('phone_words'))})\w{{0,10}}\W{{0,12}}(?:\w{{1,12}}\W{{1,3}}){{0,3}}\Z",
    re.IGNORECASE,
)
_OWN_DIGITS = 9
DATE = re.compile(r"(?:19|20)\d\d[ .-]\d{1,2}[ .-]\d{1,2}|\d{1,2}[ .-]\d{1,2}[ .-](?:19|20)\d\d")
_MESSENGER = "|".join(" ".join(LISTS["messenger_names"]).split()).replace("_", " ")
# Chinese, Japanese and Korean write no blank beside these: only a name in Latin letters follows.
_UNSPACED_MESSENGER = (
    r"(?:[微薇]信|(?<![a-z])v信|加[微薇]|카카오톡|카톡|텔레그램)[号號]?[是为為]?"
    r"|加v(?![a-z])|(?<!\w)vx(?=[ :：])|(?<!オン)ライン ?id"
)
_UNSPACED_NAME = (
    r"(?:(?!(?:i?phone|i?pad|i?os|android|win|windows|mac|linux|web|sdk|api|bot)[\d._-])"
    r"[a-z](?=[a-z.-]{0,30}[_\d])[a-z\d_.-]{4,31}|1[3-9]\d{9}(?!\d))"
)
# A name with an underscore or a digit: "rita_loans" is a handle, "strength" after "signal" is not.
_NAME = r"@?(?=[\w.-]{0,30}[_\d])[\w.-]{4,32}"
_HANDLE = re.compile(
    r"(?<![\w./])(?:(?:t|wa|m|line|telegram)\.me|(?:api|chat)\.whatsapp\.com)/"
    r"[^\s<>\"')\]]{2,100}"
    rf"|(?<!\w)(?:{_MESSENGER})(?!\w)[ \u00a0]{{0,2}}"
    r"(?:(?:me|us|him|her|id|handle|at|on|nr|no|number|me at|us at|contact)[ .:]{1,2})?"
    rf"[:：=~-]{{0,2}} ?(?:{_NAME}|@[\w.]{{4,32}}|live:[\w.]{{4,32}})"
    rf"|(?:{_UNSPACED_MESSENGER})[ \u00a0]{{0,2}}[:：=~-]{{0,2}} ?{_UNSPACED_NAME}"
    r"|(?<!\w)(?:signal|discord|kik|line)(?: id)?:? ?@[\w.]{4,32}"
    # A digit ends each name at Signal; "line id: row_3" and "signal pin.12" are of programmers.
    rf"|(?<!\w)(?-i:(?:LINE|Line) ?(?:ID|Id|id)[:：]? ?){_NAME}"
    r"|(?<!\w)(?-i:Signal:? ?)[a-z_]\w{2,31}\.\d{2,9}(?!\w)"
    rf"|(?<![\w@.]){_NAME} (?:on|via|auf|en|sur) (?:{_MESSENGER})(?!\w)",
    re.IGNORECASE,
)
# Version control, mailers that nobody reads and examples: addresses that are no invitation.
_IGNORED_LOCALS = wordset("git root user noreply no-reply admin ubuntu pi postgres foo bar test me")


# Without one of these the patterns above need not run: most comments hold none.
_AT_WORDS = wordset("arroba arobase chiocciola собака małpa zavináč παπάκι")
MESSENGER_WORDS = word_list("messengers")
_MESSENGER_PIECES = LISTS["messenger_pieces"]


def find_contacts(
    text: str, words: Set[str], shielded: tuple[Range, ...] = ()
) -> tuple[Contact, ...]:
    """Return the contacts outside code and quotations, in the order of the text.

    `words` are the words of the text in lower case.
    """
    found = [
        (ContactKind.PHONE, match)
        for match in islice(_PHONE.finditer(text), 4 * _MAX_CONTACTS)
        if match[0] == "<phone>" or _is_phone(text, match)
    ]
    if _may_hold_email(text, words):
        found += [
            (ContactKind.EMAIL, match)
            for match in islice(_EMAIL.finditer(text), _MAX_CONTACTS)
            if re.split(r"[@ (\[]", match[0], maxsplit=1)[0].lower() not in _IGNORED_LOCALS
        ]
    if not words.isdisjoint(MESSENGER_WORDS) or any(p in text for p in _MESSENGER_PIECES):
        matches = islice(_HANDLE.finditer(text), _MAX_CONTACTS)
        found += [(ContactKind.HANDLE, match) for match in matches]
    kept: list[Contact] = []
    for kind, match in sorted(found, key=lambda one: (one[1].start(), -one[1].end())):
        start, end = match.span()
        if not (kept and start < kept[-1].end) and not inside(shielded, start):
            kept.append(Contact(kind=kind, start=start, end=end))
    return tuple(kept)


def own_digits(number: str) -> str:
    """Return a number's last digits, which are the same with the country in front and without."""
    values = (unicodedata.decimal(char, None) for char in number)
    return "".join(str(value) for value in values if value is not None)[-_OWN_DIGITS:]


def _may_hold_email(text: str, words: Set[str]) -> bool:
    if "@" in text or "<email>" in text or not words.isdisjoint(_AT_WORDS):
        return True
    bracketed = "at)" in text or "at]" in text or "at}" in text
    return "at" in words and (bracketed or not words.isdisjoint(_PROVIDERS))


def _is_phone(text: str, match: re.Match[str]) -> bool:
    """Return False for dates, sums, measurements and version numbers."""
    number = match[0]
    digits = sum(char.isdigit() for char in number)
    if not (8 if number[0] == "+" else 9) <= digits <= 15 or DATE.search(number):
        return False
    if number.startswith(("+", "00")):
        return True
    groups = [len(group) for group in re.split(r"\D+", number) if group]
    announced = _PHONE_WORD.search(text, max(0, match.start() - 60), match.start())
    grouped = groups in ([3, 3, 4], [4, 3, 4], [4, 3, 3], [5, 6], [5, 3, 3], [4, 6], [1, 3, 3, 4])
    return bool(announced) or (grouped and number[0] in "0(" and digits >= 10)
