"""Cuts out of a campaign's member what a page shows of it, as words without markup."""

from __future__ import annotations

from dataclasses import replace

from service.domain.campaign import is_low
from service.domain.case import Case
from service.domain.verdict import Span
from service.web.pages.common.marking import Layer, Piece, part_text
from service.web.pages.common.pages import pages

_EXCERPT_CHARS = 220
# So much of a remark is shown before the advertisement that comes late in it.
_BEFORE_PROMOTION = 70


pages.add_app_template_test(is_low, "low")


@pages.app_template_filter()
def promotion_of(case: Case) -> tuple[Piece, ...]:
    """Return a segment of the text in which the promotion is seen, marked, if there is one."""
    text, verdict = case.comment.text, case.verdict
    spans = verdict.promo_spans if verdict else ()
    first = min((span.start for span in spans), default=0)
    late = first > _EXCERPT_CHARS - _BEFORE_PROMOTION
    space = len(text) - len(text.lstrip())
    start = _word_start(text, first - _BEFORE_PROMOTION) if late else space
    end = start + _EXCERPT_CHARS
    shown = [
        Span(start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in spans
        if span.start < end and span.end > start
    ]
    layers = (Layer(number=1, spans=tuple(shown), promo=True),) if shown else ()
    # The mark says enough: there is no list of evidence here for its number to lead to.
    pieces = [replace(one, ends=()) for one in part_text(text[start:end], layers=layers)]
    if late:
        pieces.insert(0, Piece(text="… "))
    if end < len(text):
        pieces.append(Piece(text="…"))
    return tuple(pieces)


def _word_start(text: str, at: int) -> int:
    """Return where a word begins shortly before `at`, or `at` itself."""
    space = text.rfind(" ", max(at - 20, 0), at)
    return space + 1 if space >= 0 else at
