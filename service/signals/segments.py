"""Describes each sentence of a comment in numbers: offers, address, links, looks."""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from service.domain.comment import Comment, Post
from service.signals.cues import Cue
from service.signals.hosts import sounds_commercial
from service.signals.text import find_words, inside
from service.signals.view import TextView, text_of_post, uncommon_links_of, view_of_text
from service.signals.wordlists import LISTS, any_of

# Each pattern starts with few characters, so that the search can run from one to the next.
PRICE = re.compile(
    r"[$€£₹¥₦]\s?\d|24\s?[/x]\s?7|(?:Rs|RS|USD|EUR)\.? ?\d"
    r"|\d\s?(?:[$€£₹¥₦%％円元원]|만원"
    r"|(?i:usd|eur|euros?|gbp|dollars?|bucks|rs|inr|kr|zł|zl|kč|kc|руб|грн|tl|percent)(?!\w))"
)
# "HashHaven", "Snow Rider 3D": names of products have capitals and digits where prose has none.
BRAND = re.compile(
    r"[A-Z](?<!\w[A-Z])[a-z]{2,20}(?:[A-Z][A-Za-z]{1,20}"
    r"| (?:[A-Z][a-z]{2,20} )?(?:Pro|Plus|Max|X\d?|AI|3D|VPN|HD|App|[A-Z]\d))(?!\w)"
)
# "I'm Ana Lim, working at ..."
_INTRODUCTION = re.compile(
    r"(?:I['’]?m|I am|[Tt]his is|[Mm]yself) (?:[Dd]r\.? |[Mm]rs?\.? )?"
    r"[A-Z]\w{1,20}(?: [A-Z]\w{1,20})?,? (?:working|[iI] work|from|and (?:i|I|we)\b"
    r"|the |a |an |owner|founder|writer|manager|here from)"
    r"|[Ww]e are (?:an? |the )?[\w -]{3,40}"
    r"(?:agency|company|firm|team|supplier|manufacturer|factory|provider|clinic|studio|store|shop)"
)
_SINGULAR = re.compile(
    r"\d (?:day|month|year|hour|week|minute|capsule|bottle|channel|client)(?![\w-])"
)
# How an advertisement often takes over from a remark: "If you ever need", "I'm ...", "For more".
_OPENER = any_of(**LISTS["opener"])
_CLOSED = tuple(".!?…。！？)\"”'")
_FIGURE = re.compile(r"\d")
_MIN_TOPIC_LETTERS = 4
_STEM_LETTERS = 6
# Cues that say nothing about a comment whose post is about just that: "loan" under "Student loans".
_TOPICAL = frozenset({Cue.OFFER, Cue.VICE})


@dataclass(slots=True, kw_only=True)
class Segment:
    """One sentence as seen from outside.

    `cues` counts by `Cue`; `overlap` is a share of its words; `capitals` is the share of words with
    a capital, the first apart; `commas` counts them for ten words; `opens` says that it begins as
    advertisements do that follow a remark, `ends_open` that no mark ends it, `new_line` that a line
    begins with it.
    """

    start: int
    end: int
    words: int = 0
    links: int = 0
    shop_links: int = 0
    contacts: int = 0
    cues: list[int]
    prices: int = 0
    brands: int = 0
    asks: bool = False
    starts_lower: bool = False
    figures: bool = False
    overlap: float = 0.0
    capitals: float = 0.0
    commas: float = 0.0
    dashes: bool = False
    opens: bool = False
    ends_open: bool = False
    new_line: bool = False


def segments_of(comment: Comment) -> tuple[Segment, ...]:
    """Return the sentences of a comment, described, in order; code and quotations are left out."""
    return _segments_of(comment.text, comment.post)


# Small on purpose: it serves what looks at the comments of one batch, no more.
@lru_cache(maxsize=64)
def _segments_of(text: str, post: Post) -> tuple[Segment, ...]:
    view = view_of_text(text)
    segments = [
        Segment(start=start, end=end, cues=[0] * len(Cue))
        for start, end in view.sentences
        if not inside(view.shielded, start)
    ]
    topic = topic_words(post)
    find = partial(_segment_at, segments, [segment.start for segment in segments])
    _count_words(view, topic, segments)
    _count_cues(view, topic, find)
    _count_looks(view.text, topic, find)
    for link in uncommon_links_of(text, post.url or ""):
        if segment := find(link.start):
            segment.links += 1
            segment.shop_links += sounds_commercial(link.host)
    for contact in view.contacts:
        if segment := find(contact.start):
            segment.contacts += 1
    end = 0
    for segment in segments:
        _describe_style(text[segment.start : segment.end], segment)
        segment.new_line = "\n" in text[end : segment.start]
        end = segment.end
    return tuple(segments)


def _describe_style(sentence: str, segment: Segment) -> None:
    """Fill in how a sentence is written: marks, capitals, script, its first words."""
    segment.asks = "?" in sentence
    segment.figures = _FIGURE.search(sentence) is not None
    segment.starts_lower = sentence[:1].islower()
    words = sentence.split()
    segment.capitals = sum(word[0].isupper() for word in words[1:]) / len(words)
    segment.commas = min(4, sentence.count(",")) / max(1.0, len(words) / 10)
    segment.dashes = "—" in sentence or "–" in sentence
    segment.opens = _OPENER.match(sentence) is not None
    segment.ends_open = not sentence.endswith(_CLOSED)


@lru_cache(maxsize=64)
def topic_words(post: Post) -> frozenset[str]:
    """Return the longer words of a post's title and excerpt, cut to their first six letters."""
    words = (word.text for word in find_words(text_of_post(post)))
    return frozenset(word[:_STEM_LETTERS] for word in words if len(word) >= _MIN_TOPIC_LETTERS)


_Find = Callable[[int], Segment | None]


def _segment_at(segments: list[Segment], starts: list[int], position: int) -> Segment | None:
    index = bisect_right(starts, position) - 1
    return segments[index] if index >= 0 and position < segments[index].end else None


def _count_words(view: TextView, topic: frozenset[str], segments: list[Segment]) -> None:
    """Count words and the share of longer ones that the post uses too, in one pass over both."""
    offsets = view.plain.offsets
    words = iter(view.words)
    word = next(words, None)
    for segment in segments:
        count = long_words = shared = 0
        while word is not None:
            text, start, _ = word
            position = start if offsets is None else offsets[start]
            if position >= segment.end:
                break
            if position >= segment.start:
                count += 1
                if len(text) >= _MIN_TOPIC_LETTERS:
                    long_words += 1
                    shared += text[:_STEM_LETTERS] in topic
            word = next(words, None)
        segment.words = count
        segment.overlap = shared / max(_MIN_TOPIC_LETTERS, long_words)


def _count_cues(view: TextView, topic: frozenset[str], find: _Find) -> None:
    addresses = [(link.start, link.end) for link in view.links if link.anchor is None]
    for hit in view.cues:
        start, end = view.original(hit)
        segment = find(start)
        if segment is None or (addresses and inside(addresses, start)):
            continue
        if hit.cue not in _TOPICAL or view.text[start:end].lower()[:_STEM_LETTERS] not in topic:
            segment.cues[hit.cue] += 1


def _count_looks(text: str, topic: frozenset[str], find: _Find) -> None:
    for pattern, cue in ((_INTRODUCTION, Cue.INTRO), (_SINGULAR, Cue.SLIP)):
        for match in pattern.finditer(text):
            if segment := find(match.start()):
                segment.cues[cue] += 1
    for match in PRICE.finditer(text):
        if segment := find(match.start()):
            segment.prices += 1
    for match in BRAND.finditer(text):
        segment = find(match.start())
        if segment and match[0].lower()[:_STEM_LETTERS] not in topic:
            segment.brands += 1
