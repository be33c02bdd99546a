"""Turns campaigns and their members into what pages show of them: words and numbers, no markup."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.domain.campaign import is_low
from service.domain.case import Case
from service.domain.verdict import Span, Verdict
from service.web.pages.common.marking import Layer, Piece, part_text
from service.web.pages.common.pages import pages

_EXCERPT_CHARS = 220
# So much of a remark is shown before the advertisement that comes late in it.
_BEFORE_PROMOTION = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """One member: a segment of its text with the promotion marked; `low` if it looks sincere."""

    case: Case
    excerpt: tuple[Piece, ...]
    low: bool


@pages.app_template_filter("member")
def present_member(case: Case) -> MemberView:
    """Return what a page shows of one member."""
    excerpt = excerpt_of(case.comment.text, case.verdict)
    return MemberView(case=case, excerpt=excerpt, low=is_low(case))


def excerpt_of(text: str, verdict: Verdict | None) -> tuple[Piece, ...]:
    """Return a segment of the text in which the promotion is seen, marked, if there is one."""
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
