"""Sees praise of a post about something that this post is not about."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.quoted import is_quoted
from service.signals.segments import segments_of, topic_words
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.words import find_words
from service.signals.wordset import wordset

_TEXTS = wordset(
    "article post blog piece write writeup tutorial guide review discussion information info",
    "content tips insight insights overview explanation perspective",
)
_SUBJECT = re.compile(
    r"(?<!\w)(?:article|post|blog|piece|write-?up|tutorial|guide|review|discussion|info(?:rmation)?"
    r"|content|tips|insights?|overview|explanation|perspective)"
    r" (?:about|on|regarding|concerning|into) ((?:[\w'’-]{1,30}(?: |\b)){1,7})",
    re.IGNORECASE,
)
_NO_SUBJECT = wordset(
    "this that your their these those such with here topic subject internet world site blog matter",
    "which what very some every more other from have subjects topics website page",
)
_MIN_TOPIC_WORDS = 3
_MIN_SUBJECT_WORDS = 2
_MIN_LETTERS = 4
_STEM_LETTERS = 6


def wrong_post(comment: Comment, _history: History) -> Signal | None:
    """Fire where praise names what the post is about and neither title nor excerpt says so."""
    topic = topic_words(comment.post)
    view = view_of(comment)
    if len(topic) < _MIN_TOPIC_WORDS or view.word_set.isdisjoint(_TEXTS):
        return None
    if not any(s.count(Cue.PRAISE) for s in segments_of(comment)):
        return None
    spans = [
        match.span(1)
        for match in _SUBJECT.finditer(view.text)
        if _is_another(match[1], topic) and not is_quoted(view.text, match.start(1))
    ]
    if not spans:
        return None
    return Signal(
        name="wrong_post",
        strength=1.0 if comment.post.excerpt else 0.7,
        reason="praises a post about something that this post does not mention",
        spans=spans_of(spans),
    )


def _is_another(subject: str, topic: frozenset[str]) -> bool:
    named = [
        word.text[:_STEM_LETTERS]
        for word in find_words(subject)
        if len(word.text) >= _MIN_LETTERS and word.text not in _NO_SUBJECT
    ]
    return len(named) >= _MIN_SUBJECT_WORDS and topic.isdisjoint(named)


_TITLE = "Bleeding a radiator without flooding the hall"
_EXCERPT = "Turn the pump off first, then start at the lowest valve with a key and an old towel."

WRONG_POST = Detector(
    name="wrong_post",
    detect=wrong_post,
    fires_on=(
        Example(
            text="Thanks for sharing such an informative article about wedding photography!",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
        Example(
            text="Great post on digital marketing strategies, keep it up.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
        Example(
            text="Very helpful information regarding solar panel installation, thank you.",
            post_title=_TITLE,
        ),
    ),
    silent_on=(
        Example(
            text="Great post on bleeding radiators, very helpful.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
        Example(
            text="Thanks for sharing! There is also a good article on frozen pipes in the archive"
            " of the water works, with the valve explained.",
            post_title="Frozen pipes and burst valves in January",
        ),
        Example(text="Great article on this topic, thanks for the photos.", post_title=_TITLE),
        Example(text="Great post on digital marketing strategies, keep it up."),
    ),
)
