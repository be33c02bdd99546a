"""Describes each sentence of a comment in numbers: offers, address, links, looks."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from service.domain.comment import Comment, Post
from service.signals.bare_link import uncommon_links
from service.signals.lexicon import Cue
from service.signals.regions import inside
from service.signals.shop_names import sounds_commercial
from service.signals.view import TextView, view_of
from service.signals.words import find_words

_PRICE = re.compile(
    r"[$€£₹¥₦]\s?\d|\d\s?(?:[$€£₹¥₦%％円元원]|만원|(?:usd|eur|euros?|gbp|dollars?|bucks|rs|inr"
    r"|kr|zł|zl|kč"
    r"|kc|руб|грн|tl|percent)(?!\w))|(?<!\w)(?:rs|usd|eur)\.? ?\d|24\s?[/x]\s?7",
    re.IGNORECASE,
)
# "HashHaven", "Snow Rider 3D": names of products have capitals and digits where prose has none.
_BRAND = re.compile(
    r"(?<!\w)(?:[A-Z][a-z]{2,20}[A-Z][A-Za-z]{1,20}"
    r"|[A-Z][a-z]{2,20} (?:[A-Z][a-z]{2,20} )?(?:Pro|Plus|Max|X\d?|AI|3D|VPN|HD|App"
    r"|[A-Z]\d))(?!\w)"
)
# "I'm Ana Lim, working at ...", "my name is ...", "we run a ...": somebody steps forward.
_INTRODUCTION = re.compile(
    r"(?<!\w)(?:i['’]?m|i am|this is|myself) (?:dr\.? |mrs?\.? )?"
    r"[A-Z]\w{1,20}(?: [A-Z]\w{1,20})?,? "
    r"(?:working|i work|from|and (?:i|we)\b|the |a |an |owner|founder|writer|manager|here from)"
    r"|(?<!\w)my name is|(?<!\w)we run an? |(?<!\w)(?:hello|hi|dear),? (?:my )?(?:dear |all )?"
    r"(?:friend|sir|webmaster|admin|this is)"
    r"|(?<!\w)we are (?:an? |the )?[\w -]{3,40}"
    r"(?:agency|company|firm|team|supplier|manufacturer|factory|provider|clinic|studio|store"
    r"|shop)",
    re.IGNORECASE,
)
# Slips that salesmen's templates share; honest second-language writers make them too, so they
# only ever add to an advert that other things show.
_BROKEN = re.compile(
    r"(?<!\w)(?:"
    r"(?:[2-9]|\d{2,4}) (?:day|month|year|hour|week|minute|capsule|bottle|channel|client)"
    r"|if you interest|you interested in|do not (?:hesitation|hesitating)|much valuable"
    r"|many (?:our )?(?:customer|client|student|people)s? (?:is|was)|for (?:your )?updates?"
    r"|students? who (?:is|want)|we (?:factory|supplier|company|team)|(?:he|she|it) have"
    r"|any(?:one|body) (?:want|need|have))(?!\w)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
_SHOUT = re.compile(r"(?<!\w)[A-ZÄÖÜÉÀÑА-Я]{4,30}(?!\w)")
_MIN_TOPIC_LETTERS = 4
_STEM_LETTERS = 6
# Words of a full text that matter for overlap; longer excerpts add little and cost time.
_MAX_POST_CHARS = 1_500
_CUE_COUNT = len(Cue)
# Cues that say nothing about a comment whose post is about just that: "loan" under "Student loans".
_TOPICAL = frozenset({Cue.OFFER, Cue.VICE})


@dataclass(slots=True, kw_only=True)
class Stretch:
    """One sentence as seen from outside. Counts are of cues, `overlap` is a share of its words."""

    start: int
    end: int
    words: int = 0
    links: int = 0
    shop_links: int = 0
    contacts: int = 0
    cues: list[int]
    prices: int = 0
    shouts: int = 0
    brands: int = 0
    introductions: int = 0
    slips: int = 0
    exclaims: bool = False
    asks: bool = False
    starts_lower: bool = False
    figures: bool = False
    overlap: float = 0.0

    def count(self, cue: Cue) -> int:
        """Return how often a cue occurs."""
        return self.cues[cue]


# Small on purpose: it serves the detectors that look at one comment after another, no more.
@lru_cache(maxsize=8)
def stretches_of(comment: Comment) -> tuple[Stretch, ...]:
    """Return the sentences of a comment, described, in order; code and quotations are left out."""
    view = view_of(comment)
    stretches = [
        Stretch(start=start, end=end, cues=[0] * _CUE_COUNT)
        for start, end in view.sentences
        if not inside(view.shielded, start)
    ]
    topic = topic_words(comment.post)
    find = _Finder([stretch.start for stretch in stretches], stretches)
    _count_words(view, topic, find)
    for link in uncommon_links(comment):
        if stretch := find(link.start):
            stretch.links += 1
            stretch.shop_links += sounds_commercial(link.host)
    for contact in view.contacts:
        if stretch := find(contact.start):
            stretch.contacts += 1
    for stretch in stretches:
        _describe_looks(view.text[stretch.start : stretch.end], stretch, topic)
    return tuple(stretches)


@lru_cache(maxsize=64)
def topic_words(post: Post) -> frozenset[str]:
    """Return the longer words of a post's title and excerpt, cut to their first six letters."""
    text = f"{post.title or ''}\n{(post.excerpt or '')[:_MAX_POST_CHARS]}"
    return frozenset(
        word.text[:_STEM_LETTERS]
        for word in find_words(text)
        if len(word.text) >= _MIN_TOPIC_LETTERS
    )


class _Finder:
    """Finds the stretch that a position lies in."""

    def __init__(self, starts: list[int], stretches: list[Stretch]) -> None:
        self._starts = starts
        self._stretches = stretches

    def __call__(self, position: int) -> Stretch | None:
        index = bisect_right(self._starts, position) - 1
        if index < 0 or position >= self._stretches[index].end:
            return None
        return self._stretches[index]


def _count_words(view: TextView, topic: frozenset[str], find: _Finder) -> None:
    long_words: dict[int, int] = {}
    shared: dict[int, int] = {}
    for word in view.words:
        stretch = find(view.original(word)[0])
        if stretch is None:
            continue
        stretch.words += 1
        if len(word.text) >= _MIN_TOPIC_LETTERS:
            long_words[stretch.start] = long_words.get(stretch.start, 0) + 1
            if word.text[:_STEM_LETTERS] in topic:
                shared[stretch.start] = shared.get(stretch.start, 0) + 1
    for start, count in shared.items():
        stretch = find(start)
        if stretch is not None:
            stretch.overlap = count / max(_MIN_TOPIC_LETTERS, long_words[start])
    addresses = [(link.start, link.end) for link in view.links if link.anchor is None]
    for hit in view.cues:
        start, end = view.original(hit)
        stretch = find(start)
        if stretch is None or inside(addresses, start):
            continue
        if hit.cue not in _TOPICAL or view.text[start:end].lower()[:_STEM_LETTERS] not in topic:
            stretch.cues[hit.cue] += 1


def _describe_looks(text: str, stretch: Stretch, topic: frozenset[str]) -> None:
    stretch.prices = len(_PRICE.findall(text))
    stretch.shouts = len(_SHOUT.findall(text))
    stretch.brands = sum(m[0].lower()[:_STEM_LETTERS] not in topic for m in _BRAND.finditer(text))
    stretch.introductions = int(_INTRODUCTION.search(text) is not None)
    stretch.slips = int(_BROKEN.search(text) is not None)
    stretch.exclaims = "!" in text
    stretch.asks = "?" in text
    stretch.figures = _FIGURE.search(text) is not None
    stretch.starts_lower = text[:1].islower()
