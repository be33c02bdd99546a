"""Sees words that mix look-alike letters of two alphabets."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.look_alikes import LATIN_LETTER, MIXED, OTHER_LETTER, all_look_latin
from service.signals.spans import spans_of
from service.signals.view import view_of

_MIN_WORD_CHARS = 4


def mixed_script_words(comment: Comment, _history: History) -> Signal | None:
    """Fire on Latin words with look-alike letters inside, not on units or grammatical endings."""
    view = view_of(comment)
    if view.text.isascii() or not MIXED.search(view.plain.text):
        return None
    words = [w for w in view.words if _is_disguised(view.plain.text[w.start : w.end])]
    native = sum(_is_native(w.text) for w in view.words)
    # Keyboards share keys between the alphabets: one slip in a text of the other script is a slip.
    if not words or (native > len(words) and len(words) < 2):
        return None
    return Signal(
        name="mixed_script_words",
        strength=1.0 if len(words) > 1 else 0.7,
        reason="writes words with look-alike letters of another alphabet",
        spans=spans_of(view.original(word) for word in words),
    )


def _is_disguised(word: str) -> bool:
    if len(word) < _MIN_WORD_CHARS or not MIXED.search(word):
        return False
    foreign = OTHER_LETTER.findall(word)
    latin = len(LATIN_LETTER.findall(word))
    return latin >= len(foreign) and all_look_latin(foreign)


def _is_native(word: str) -> bool:
    return bool(OTHER_LETTER.match(word)) and not LATIN_LETTER.search(word)


MIXED_SCRIPT_WORDS = Detector(
    name="mixed_script_words",
    detect=mixed_script_words,
    fires_on=(
        Example(text="best \u0441asin\u043e in town"),
        Example(text="\u0440ayday l\u043eans, no check"),
        Example(text="cheap vi\u03b1gra online"),
    ),
    silent_on=(
        Example(text="Поставил Linux и настроил VPN, на моём iPhone всё работает"),
        Example(text="A 4.7\u03bcF cap and a 10k\u03a9 resistor, \u0394T of 5"),
        Example(text="Разница между GPSом и ГЛОНАСС видна на карте"),
        Example(text="Η λέξη email γράφεται με λατινικά"),
    ),
)
