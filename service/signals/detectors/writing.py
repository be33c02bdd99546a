"""Detectors of how a text is written: its script, its language, its lines and its marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import lru_cache
from itertools import pairwise

from service.domain.comment import Comment, Post
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.detector import Observation, detector
from service.signals.judged_text import may_come_by_mail
from service.signals.links import Link
from service.signals.text import (
    ALONE,
    LATIN_LETTER,
    LOOK_ALIKES,
    MIXED,
    OTHER_LETTER,
    Range,
    inside,
)
from service.signals.view import (
    TextView,
    spans_of,
    text_of_post,
    uncommon_links,
    view_of,
    words_of_post,
)
from service.signals.wordlists import LISTS, wordset

_MIN_WORD_CHARS = 4


@detector
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
    if len(word) < _MIN_WORD_CHARS or not MIXED.search(word):
        return False
    foreign = OTHER_LETTER.findall(word)
    latin = len(LATIN_LETTER.findall(word))
    return latin >= len(foreign) and LOOK_ALIKES.issuperset(foreign)


_CLOSING = {'"': '"', "“": "”", "„": "“", "«": "»", "”": "”"}
# A quoted word or saying with nothing around it is what people leave as a joke or a motto.
_MIN_CHARS = 60


@detector
def stray_quotation_mark(comment: Comment, _history: History) -> Observation | None:
    """Fire on a text wrapped whole in one pair of quotation marks, or opened and never closed."""
    start = len(comment.text) - len(comment.text.lstrip())
    text = comment.text.strip()
    closing = _CLOSING.get(text[:1])
    if closing is None or len(text) < _MIN_CHARS:
        return None
    at = text.find(closing, 1)
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


_SMALL_WORDS = {language: wordset(words) for language, words in LISTS["small_words"].items()}
_MIN_WORDS = 6
_MIN_SMALL_WORDS = 3
_OTHER_SCRIPT = "other script"
_LATIN_SCRIPT = "latin script"
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_OTHER = re.compile("[\u0370-\u1fff\u3040-\ud7af]")
_UNSPACED = re.compile(f"[{ALONE}]")
_MIN_LETTERS = 10
# A title of a word or two is in Latin letters on blogs in any script.
_MIN_LATIN = 16
_MAX_CHARS = 2_000
# Addresses and slugs ("posts/docker-on-vps/") are in Latin letters on every blog.
_ADDRESS = re.compile(r"[!-~]*[/_][!-~]*|[!-.0-~]*-[!-.0-~]*-[!-~]*")


@detector
def language_mismatch(comment: Comment, _history: History) -> Observation | None:
    """Fire on an offer in another script or language than the post's.

    An offer is a link or a contact. Never on a script or a language alone: readers write in
    theirs, and in it "slot" and "loan" are words like any.
    """
    links = uncommon_links(comment)
    view = view_of(comment)
    offered = [*((k.start, k.end) for k in links), *((c.start, c.end) for c in view.contacts)]
    if not offered:
        return None
    there = _language_of_post(comment.post)
    if there is None:
        return None
    here = _language(_without(view.text, links), view.word_set)
    if here == _OTHER_SCRIPT != there:
        reason = Phrase("offers something in another script than the post's")
    elif here not in (None, there) and there != _LATIN_SCRIPT:
        reason = Phrase("offers something in another language than the post's")
    else:
        return None
    return Observation(strength=0.7, reason=reason, spans=spans_of(offered))


@lru_cache(maxsize=64)
def _language_of_post(post: Post) -> str | None:
    text = _ADDRESS.sub(" ", text_of_post(post))
    # A post that holds some of another script is read by those who write it; a syllable or a
    # character counts for two letters.
    if len(_OTHER.findall(text)) + len(_UNSPACED.findall(text)) >= _MIN_LETTERS:
        return _OTHER_SCRIPT
    language = _language(text, words_of_post(post))
    if language is None and len(_LATIN.findall(text)) >= _MIN_LATIN:
        return _LATIN_SCRIPT
    return language


def _language(text: str, words: Set[str]) -> str | None:
    """Return a language by its small words, or that the script is not Latin; else None."""
    other = len(_OTHER.findall(text))
    if other >= _MIN_LETTERS and other > len(_LATIN.findall(text)):
        return _OTHER_SCRIPT
    if len(words) < _MIN_WORDS:
        return None
    counts = sorted(
        ((len(small & words), language) for language, small in _SMALL_WORDS.items()), reverse=True
    )
    (most, language), (next_most, _) = counts[0], counts[1]
    return language if most >= _MIN_SMALL_WORDS and most >= 2 * next_most else None


def _without(text: str, links: tuple[Link, ...]) -> str:
    """Return the first characters of a text without its links, whose letters are no language."""
    parts, done = [], 0
    for link in links:
        parts.append(text[done : link.start])
        if link.anchor:
            parts.append(link.anchor)
        done = link.end
        if done > _MAX_CHARS:
            break
    return " ".join((*parts, text[done:]))[:_MAX_CHARS]


# Shorter lines are lists, verses and greetings; longer ones ended where their writer meant them to.
_MIN_LINE = 45
_MAX_LINE = 100
_ENDS_INSIDE = ",'’"
_LINK_STARTS = ("http", "www.")


@detector
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
    lines = view.text.split("\n")
    for line, following in pairwise(lines):
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
