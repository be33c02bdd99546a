"""Sees a comment of some length that shares no word with the post."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

from service.domain.comment import Comment, Post
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.posts import words_of_post
from service.signals.view import view_of
from service.signals.wordset import wordset

# Of published ham with 20 different content words or more 8 % share none with title and excerpt
# (285 of 3,558), of spam 42 % (309 of 743); of ham with 12 to 19 it is 22 % (2026-11-21).
_MIN_WORDS = 20
_MANY_WORDS = 40
# A title alone says too little of what may be talked about under it.
_MIN_TOPIC_WORDS = 12
_MIN_LETTERS = 4
_STEM_LETTERS = 6
# Small words in common show that comment and post are in one language; without that, silence.
_MIN_SMALL_WORDS = 2
# Longer words that say nothing of a subject: any two English texts share some.
_NO_SUBJECT = wordset(
    "with that this from have your they will when what which more about there their them then than",
    "been were would could should some just like also into over only very much many most such",
    "these those here even other because after before while where does dont don't it's that's",
    "you're i've i'm didn't doesn't can't being make made really well know think good great time",
    "people want need still every first back same thing things going using used work since without",
    "through between both each though although always never something anything",
)


def off_topic(comment: Comment, _history: History) -> Signal | None:
    """Fire where title and excerpt share no content word with a comment in their language."""
    post = comment.post
    if not post.excerpt or len(_subject_of(post)) < _MIN_TOPIC_WORDS:
        return None
    view = view_of(comment)
    # A comment around code or a quotation is about that.
    if len(view.word_set) < _MIN_WORDS or view.shielded:
        return None
    said = _count_if_apart(view.word_set, _subject_of(post))
    same_language = len(view.word_set & _small_words(post)) >= _MIN_SMALL_WORDS
    if said < _MIN_WORDS or not same_language:
        return None
    return Signal(
        name="off_topic",
        strength=min(1.0, said / _MANY_WORDS),
        reason="shares no word with the post, which is rare in a remark of this length",
    )


def _count_if_apart(words: Set[str], subject: Set[str]) -> int:
    """Count the different content words, 0 as soon as one is the post's too."""
    stems = set()
    for word in words:
        if len(word) >= _MIN_LETTERS and word not in _NO_SUBJECT:
            stem = word[:_STEM_LETTERS]
            if stem in subject:
                return 0
            stems.add(stem)
    return len(stems)


@lru_cache(maxsize=64)
def _subject_of(post: Post) -> frozenset[str]:
    return frozenset(
        word[:_STEM_LETTERS]
        for word in words_of_post(post)
        if len(word) >= _MIN_LETTERS and word not in _NO_SUBJECT
    )


@lru_cache(maxsize=64)
def _small_words(post: Post) -> frozenset[str]:
    return frozenset(word for word in words_of_post(post) if len(word) < _MIN_LETTERS)


_TITLE = "Bleeding a radiator without flooding the hall"
_EXCERPT = (
    "Turn the pump off first and wait for the water to settle, then start at the lowest valve of"
    " the house with a key and an old towel. Open it a quarter turn until the hissing stops."
)

OFF_TOPIC = Detector(
    name="off_topic",
    detect=off_topic,
    fires_on=(
        Example(
            text="Your wedding photographs deserve a professional eye, and the album should last"
            " for generations. Couples across the city trust our studio because every smile, every"
            " dance, every tender glance becomes art that grandchildren treasure, printed on heavy"
            " cotton paper.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
        Example(
            text="Students everywhere struggle with deadlines, and a skilled writer makes all the"
            " difference. Essays, dissertations and research papers delivered to your inbox bring"
            " better grades and leave hours for sleep, friends, sport, music, travel or a career.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
        Example(
            text="Crypto markets reward patience and discipline. A mentor helped me double the"
            " savings which bankers ignored for decades, with weekly payouts, friendly support"
            " staff and honest reports. Message him today about becoming an investor in tokens.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
    ),
    silent_on=(
        Example(
            text="Same noise here and nobody believed me until the plumber heard it. He blamed the"
            " boiler, replaced the thermostat, charged us plenty, and it still gurgles every night"
            " about eleven. The towel trick at least saved our parquet.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
        Example(text="Made my whole evening, thanks!", post_title=_TITLE, post_excerpt=_EXCERPT),
        Example(
            text="Your wedding photographs deserve a professional eye, and the album should last"
            " for generations. Couples across the city trust our studio because every smile, every"
            " dance, every tender glance becomes art that grandchildren treasure, printed on heavy"
            " cotton paper.",
            post_title=_TITLE,
        ),
        Example(
            text="Bei uns gluckert es seit Wochen, und niemand wollte das hören. Erst nachdem der"
            " Klempner zweimal umsonst gekommen war, haben wir selbst nachgesehen und oben am"
            " Verteiler einen kleinen Hahn gefunden, der völlig festgerostet war.",
            post_title=_TITLE,
            post_excerpt=_EXCERPT,
        ),
    ),
)
