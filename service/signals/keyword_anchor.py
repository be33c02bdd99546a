"""Sees a link whose visible words are what somebody would search for."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.cues import find_cues
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.links import Link
from service.signals.spans import spans_of
from service.signals.uncommon_links import uncommon_links
from service.signals.words import find_words

_TRADE = (Cue.OFFER, Cue.VICE)
_MAX_ANCHOR_CHARS = 200
# One link of three words is enough to tell; comments of hundreds of links are told by the first.
_MAX_LINKS = 20
_MAX_WORDS = 6
_MIN_NAMED = 2
_MIN_LETTERS = 3


def keyword_anchor(comment: Comment, _history: History) -> Signal | None:
    """Fire on words of an offer as a link, and on two words or more that name the target."""
    links = [link for link in uncommon_links(comment)[:_MAX_LINKS] if link.anchor]
    if not links:
        return None
    told = [link for link in links if _is_offer(link) or _names_target(link)]
    if not told:
        return None
    return Signal(
        name="keyword_anchor",
        strength=1.0,
        reason="puts a link on words that people search for rather than on words about the page",
        spans=spans_of((link.start, link.end) for link in told),
    )


def _is_offer(link: Link) -> bool:
    anchor = (link.anchor or "")[:_MAX_ANCHOR_CHARS]
    return any(hit.cue in _TRADE for hit in find_cues(anchor, find_words(anchor)))


def _names_target(link: Link) -> bool:
    words = {word.text for word in find_words((link.anchor or "")[:_MAX_ANCHOR_CHARS])}
    if len(words) > _MAX_WORDS:
        return False
    name = link.domain.partition(".")[0].replace("-", "")
    return sum(len(word) >= _MIN_LETTERS and word in name for word in words) >= _MIN_NAMED


KEYWORD_ANCHOR = Detector(
    name="keyword_anchor",
    detect=keyword_anchor,
    fires_on=(
        Example(text="Lovely. <a href='https://mintloan.example.com/a'>cheap payday loans</a>"),
        Example(text="So well put [radiator valves](https://radiator-valves-uk.com) indeed"),
        Example(text="[url=http://spin-room.ru/x]online casino bonus[/url] thanks"),
    ),
    silent_on=(
        Example(text="[my notes on bleeding](https://ana-notes.example.com/valves) have photos"),
        Example(text='As <a href="https://heating.example.org/p/3">this post</a> says, pump first'),
        Example(text="[cheap flights study](https://www.nature.com/articles/x1) found the reverse"),
        Example(text="Cheap valves drip, see https://heating.example.org/tests/2019"),
    ),
)
