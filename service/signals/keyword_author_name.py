"""Sees an author whose name is a product, a service or a web address."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.cues import find_cues
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.links import find_links
from service.signals.words import find_words
from service.signals.wordset import wordset

_TRADE_WORDS = wordset(
    "seo marketing agency services service shop store outlet deals online clinic dental pharma",
    "pharmacy plumbing plumber roofing roofers movers packers repair repairs cleaning solutions",
    "hosting casino slots bet betting poker loans loan finance lender crypto forex trading academy",
    "institute coaching tutors essay essays assignment thesis writers rentals tours travels visa",
    "immigration insurance lawyers attorney escorts iptv apk software app apps official pros",
    "supplements gummies vape jewellery jewelry kaufen günstig acheter comprar купить займы казино",
    "wholesale supplier suppliers manufacturer manufacturers exporter company ltd llc pvt inc gmbh",
    "best cheap buy discount top",
)
# "Rob the plumber" is a person; it takes two such words, or one of a trade that people never sign.
_MIN_TRADE_WORDS = 2


def keyword_author_name(comment: Comment, _history: History) -> Signal | None:
    """Fire on a name made of trade words, or that holds a web address."""
    name = (comment.author.name or "")[:300]
    words = find_words(name)
    if not words:
        return None
    trade = sum(word.text in _TRADE_WORDS for word in words)
    vices = sum(hit.cue is Cue.VICE for hit in find_cues(name, words))
    if trade + vices < _MIN_TRADE_WORDS and not vices and not find_links(name):
        return None
    return Signal(
        name="keyword_author_name",
        strength=1.0 if trade + vices >= _MIN_TRADE_WORDS else 0.7,
        reason="signs with the name of a product, a service or a web address",
    )


KEYWORD_AUTHOR_NAME = Detector(
    name="keyword_author_name",
    detect=keyword_author_name,
    fires_on=(
        Example(text="Nice post", author_name="Best SEO Agency"),
        Example(text="Nice post", author_name="casino bonus king"),
        Example(text="Nice post", author_name="quick-loans-today.com"),
    ),
    silent_on=(
        Example(text="Nice post", author_name="Rob the plumber"),
        Example(text="Nice post", author_name="A. J. Shop"),
        Example(text="Nice post", author_name="Мария"),
        Example(text="Nice post"),
    ),
)
