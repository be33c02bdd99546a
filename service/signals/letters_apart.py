"""Sees a word whose letters are held apart, so that word filters miss it."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.links import Link
from service.signals.spans import spans_of
from service.signals.view import view_of

# Five letters or more, all parted by the same mark: shorter ones are initials and abbreviations.
_SPACED = re.compile(r"(?<![\w.*_-])[^\W_](?:([ .*_|-])[^\W_])(?:\1[^\W_]){3,40}(?![\w*_-])")
_NOTES = frozenset("abcdefgh")
_VOWELS = re.compile(r"[aeiouyаеиоуыэюя013!]", re.IGNORECASE)


def letters_apart(comment: Comment, _history: History) -> Signal | None:
    """Fire on five single letters or more in a row that spell something."""
    view = view_of(comment)
    spans = [
        m.span()
        for m in _SPACED.finditer(view.text)
        if _spells(m[0]) and not _in_link(view.links, m.start())
    ]
    if not spans:
        return None
    return Signal(
        name="letters_apart",
        strength=1.0,
        reason="holds the letters of a word apart so that word filters miss it",
        spans=spans_of(spans),
    )


def _spells(run: str) -> bool:
    """Tell a word from tunings (D A D G A D), the alphabet, sums and rows of one letter."""
    letters = [char for char in run.lower() if char.isalnum()]
    different = set(letters)
    alphabetical = letters == sorted(letters)
    digits = sum(char.isdigit() for char in letters)
    return (
        len(different) > 3
        and not different <= _NOTES
        and not alphabetical
        and digits * 2 < len(letters)
        and bool(_VOWELS.search(run))
    )


def _in_link(links: tuple[Link, ...], position: int) -> bool:
    return any(link.start <= position < link.end for link in links)


LETTERS_APART = Detector(
    name="letters_apart",
    detect=letters_apart,
    fires_on=(
        Example(text="get v i a g r a cheap"),
        Example(text="our c-a-s-i-n-o is open"),
        Example(text="search z u l u l i n e s and join"),
    ),
    silent_on=(
        Example(text="I tune it D A D G A D and capo on two"),
        Example(text="The U.S.S.R. and the N.A.T.O. archives"),
        Example(text="a b c d e f g was all she could sing, 1 2 3 4 5"),
        Example(text="x x x x x marks the spot"),
    ),
)
