"""Undoes disguises of letters (hidden, full-width, styled), remembering where each one stood."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from models import undisguise
from service.signals.markup import without_tags
from service.signals.phrases import MARKS

# Characters that show nothing. Joiners are needed in Persian, Hindi and emoji; dropping them here
# only affects the reading of words, never the text that a person sees.
HIDDEN = undisguise.HIDDEN
# Mathematical alphabets, full-width forms, circled, squared and small-capital letters.
STYLED = (
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u2460-\u2468\u24b6-\u24e9"
    "\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189\u1d00-\u1d22"
)
_ODD = re.compile(f"[{HIDDEN}{STYLED}]")
# What else Unicode lets nobody see (Default_Ignorable_Code_Point, interlinear marks), letters and
# signs by name that are drawn as blanks, and marks that stand on a letter or on nothing.
_BLANK = (
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\u2800\x00-\x1f\x7f-\x9f"
    f"{MARKS}\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_VISIBLE = re.compile(f"[^\\s{HIDDEN}{_BLANK}]")
_HIDDEN = re.compile(f"[{HIDDEN}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText:
    """A text without disguises; `offsets` is None where it equals the original."""

    text: str
    offsets: tuple[int, ...] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the segment of the original text that `[start, end)` of the plain text shows."""
        if self.offsets is None or start >= end:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def is_visible(text: str) -> bool:
    """Return True if a text has a visible character, shown as a site shows HTML."""
    return _VISIBLE.search(html.unescape(without_tags(text))) is not None


def plain_of(text: str) -> PlainText:
    """Return the text with hidden characters dropped and styled letters made ordinary."""
    if text.isascii() or not _ODD.search(text):
        return PlainText(text=text)
    kept: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(text):
        plain = plain_letter(char) if _ODD.match(char) else char
        if plain:
            kept.append(plain)
            offsets.append(index)
    return PlainText(text="".join(kept), offsets=tuple(offsets))


def plain_letter(char: str) -> str:
    """Return the ordinary letter that a styled one shows, "" for a hidden character."""
    return "" if _HIDDEN.match(char) else undisguise.plain_letter(char)
