"""Sees words set in letter look-alikes made for mathematics or decoration."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.plain import STYLED
from service.signals.regions import inside
from service.signals.spans import spans_of
from service.signals.view import view_of

# Three in a row make a word; one or two are a formula, a footnote or a button.
_RUN = re.compile(f"[{STYLED}]{{3,}}")
_FULL_WIDTH = re.compile("[\uff10-\uff5a]+")
_WRITES_FULL_WIDTH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ONLY_NUMBERS = re.compile("[\uff10-\uff19\u2460-\u2468\U0001d7ce-\U0001d7ff]+")


def styled_letters(comment: Comment, _history: History) -> Signal | None:
    """Fire on words in styled letters; full-width ones only where no East Asian script is."""
    view = view_of(comment)
    if view.text.isascii():
        return None
    wide = bool(_WRITES_FULL_WIDTH.search(view.text))
    spans = [m.span() for m in _RUN.finditer(view.text) if _is_styled(m[0], wide=wide)]
    spans = [span for span in spans if not inside(view.shielded, span[0])]
    if not spans:
        return None
    return Signal(
        name="styled_letters",
        strength=1.0,
        reason="sets words in decorative look-alike letters that word filters cannot read",
        spans=spans_of(spans),
    )


def _is_styled(run: str, *, wide: bool) -> bool:
    if _ONLY_NUMBERS.fullmatch(run):
        return False
    return not (wide and _FULL_WIDTH.fullmatch(run))


STYLED_LETTERS = Detector(
    name="styled_letters",
    detect=styled_letters,
    fires_on=(
        Example(text="𝗛𝗼𝘁 𝗱𝗲𝗮𝗹𝘀 every day"),
        Example(text="ｃａｓｉｎｏ bonus"),
        Example(text="join ⓣⓔⓛⓔⓖⓡⓐⓜ"),
    ),
    silent_on=(
        Example(text="So 𝑥² + 𝑦² = 1 holds for every 𝑥 ∈ ℝ"),
        Example(text="ＮＨＫで見ました、１２３番です"),
        Example(text="Step ① then ② then ③, all fine ™"),
    ),
)
