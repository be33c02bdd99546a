"""Sees trade words spelled with digits and signs in place of letters."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.cues import find_cues
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.words import find_words

_LEET = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"}
)
_CANDIDATE = re.compile(
    r"(?<![\w.@/#-])(?=[\w@$!]{4,30}(?![\w@]))(?=[A-Za-z]*[0-9@$!][\w@$!]*[A-Za-z])[\w@$!]+"
)
_HINT = re.compile(r"[0-9@$!](?<=[A-Za-z].)[A-Za-z0-9@$!]|[0-9@$!](?=[A-Za-z])")
_TRADES = frozenset({Cue.VICE})
_MORE = re.compile(
    r"viagra|cialis|pharm|tramadol|zolpidem|xanax|casino|loans?\b|free\b|amazon|instagram"
    r"|telegram|whatsapp|sex|porn|essay|crypto|bitcoin|discount|offer|cheap|price|click"
)


def digits_for_letters(comment: Comment, _history: History) -> Signal | None:
    """Fire on a word that becomes a trade word once its digits are read as letters."""
    view = view_of(comment)
    if not _HINT.search(view.text):
        return None
    spans = [m.span() for m in _CANDIDATE.finditer(view.text) if _is_trade_word(m[0])]
    if not spans:
        return None
    return Signal(
        name="digits_for_letters",
        strength=1.0,
        reason="spells a trade word with digits or signs in place of letters",
        spans=spans_of(spans),
    )


def _is_trade_word(word: str) -> bool:
    read = word.lower().translate(_LEET)
    if read == word.lower() or not read.isalpha():
        return False
    return bool(_MORE.match(read)) or any(
        h.cue in _TRADES for h in find_cues(read, find_words(read))
    )


DIGITS_FOR_LETTERS = Detector(
    name="digits_for_letters",
    detect=digits_for_letters,
    fires_on=(
        Example(text="cheap v1agra here"),
        Example(text="best c4sin0 of the year"),
        Example(text="z0lp1dem and tramad0l without papers"),
    ),
    silent_on=(
        Example(text="The ESP32 with i2c at 3v3, rev b2c"),
        Example(text="utf8, sha256, w3c, k8s and base64 are all fine"),
        Example(text="He calls himself n00b, h4x0r and l33t"),
    ),
)
