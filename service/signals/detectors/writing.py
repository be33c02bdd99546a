"""Detectors of how a text is written: its script, its language, its lines and its marks."""

import re
from collections.abc import Iterator
from itertools import pairwise

from service.domain.comment import Comment
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.detector import Detector, Observation
from service.signals.judged_text import may_come_by_mail
from service.signals.text import LATIN_LETTER, LOOK_ALIKES, MIXED, OTHER_LETTER, Range, inside
from service.signals.view import TextView, spans_of, view_of

_MIN_WORD_CHARS = 4
# Slavs put endings of their own behind acronyms and names: "PDFка", "iPhoneом".
_WITH_ENDING = re.compile(r"[A-Za-z][a-z]*[A-Z][A-Za-z]*[\u0430-\u045f\u0491]{1,4}")


@Detector
def mixed_script_words(comment: Comment, _history: History) -> Observation | None:
    """Fire on Latin words with look-alike letters inside, not on units or grammatical endings."""
    view = view_of(comment)
    if view.text.isascii() or not MIXED.search(view.plain.text):
        return None
    words = [w for w in view.words if _is_disguised(view.plain.text[w.start : w.end])]
    native = sum(
        bool(OTHER_LETTER.match(w.text)) and not LATIN_LETTER.search(w.text) for w in view.words
    )
    # Keyboards share keys between the alphabets: one slip in a text of the other script is a slip.
    if not words or (native > len(words) and len(words) < 2):
        return None
    return Observation(
        strength=1.0 if len(words) > 1 else 0.7,
        reason=Phrase("writes words with look-alike letters of another alphabet"),
        spans=spans_of(view.original(word) for word in words),
    )


def _is_disguised(word: str) -> bool:
    if len(word) < _MIN_WORD_CHARS or not MIXED.search(word) or _WITH_ENDING.fullmatch(word):
        return False
    foreign = OTHER_LETTER.findall(word)
    latin = len(LATIN_LETTER.findall(word))
    return latin >= len(foreign) and LOOK_ALIKES.issuperset(foreign)


# Many languages close "„" with "”", and keyboards have a straight mark for either end.
_CLOSING = {'"': '"”“', "“": '”"', "„": '“”"', "«": "»", "”": "”"}
# A quoted word or saying with nothing around it is what people leave as a joke or a motto.
_MIN_CHARS = 60


@Detector
def stray_quotation_mark(comment: Comment, _history: History) -> Observation | None:
    """Fire on a text wrapped whole in one pair of quotation marks, or opened and never closed."""
    start = len(comment.text) - len(comment.text.lstrip())
    text = comment.text.strip()
    closing = _CLOSING.get(text[:1])
    if closing is None or len(text) < _MIN_CHARS:
        return None
    at = min((found for one in closing if (found := text.find(one, 1)) > 0), default=-1)
    if at not in (-1, len(text) - 1):
        return None
    marks = [(start, start + 1)] if at < 0 else [(start, start + 1), (start + at, start + at + 1)]
    return Observation(
        strength=1.0 if at > 0 else 0.7,
        reason=Phrase("stands in quotation marks as a whole, as a chatbot hands over a draft")
        if at > 0
        else Phrase("opens with a quotation mark that is never closed"),
        spans=spans_of(marks),
    )


# Shorter lines are lists, verses and greetings; longer ones ended where their writer meant them to.
_MIN_LINE = 45
_MAX_LINE = 100
_ENDS_INSIDE = ",'’"
_LINK_STARTS = ("http", "www.")


@Detector
def broken_lines(comment: Comment, _history: History) -> Observation | None:
    """Fire on lines of ordinary length that break in a sentence and go on in lower case.

    Who begins in lower case writes so throughout: there it says nothing of a sentence. Mail
    programs break the lines of what people write.
    """
    view = view_of(comment)
    if view.text.lstrip()[:1].islower() or may_come_by_mail(comment):
        return None
    breaks = list(_breaks(view))
    if not breaks:
        return None
    return Observation(
        strength=1.0 if len(breaks) > 1 else 0.8,
        reason=Phrase("breaks lines inside sentences, as programs do that post in bulk"),
        spans=spans_of(breaks),
    )


def _breaks(view: TextView) -> Iterator[Range]:
    """Yield each break, from the last word before it to the first after it."""
    start = 0
    for line, following in pairwise(view.text.split("\n")):
        end = start + len(line)
        kept, follows = line.rstrip(), following.lstrip()
        if (
            _MIN_LINE <= len(kept.lstrip()) <= _MAX_LINE
            and (kept[-1].isalpha() or kept[-1] in _ENDS_INSIDE)
            and follows[:1].islower()
            and not follows.startswith(_LINK_STARTS)
            and not inside(view.shielded, end)
        ):
            first = end + 1 + len(following) - len(follows)
            before = start + kept.rfind(" ") + 1
            yield before, first + len(follows.split(maxsplit=1)[0])
        start = end + 1
