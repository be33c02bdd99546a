"""Sees an offer in another language, or any text in another script, than the post's."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from service.domain.comment import Comment, Post
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.links import Link
from service.signals.posts import text_of_post, words_of_post
from service.signals.spans import spans_of
from service.signals.uncommon_links import uncommon_links
from service.signals.view import view_of
from service.signals.wordset import wordset

# Small words that every text of some length holds; those that several languages share are left
# out as far as they can be, and one language must have twice as many as the next.
_SMALL_WORDS = {
    "en": wordset("the and of to is that this for you with are have was not but your it's they"),
    "de": wordset("und der die das ist nicht ich mit auf für eine ein auch sich von dem wird"),
    "fr": wordset("le les des est une pour dans que vous pas nous avec sur votre cette c'est"),
    "es": wordset("el los las una para con por que es muy su como más este pero está todo"),
    "pt": wordset("os uma para com não você por mais são muito isso seu como meu também"),
    "it": wordset("il che di per una con non sono questo più della gli anche molto alla"),
    "nl": wordset("het een van niet dat ik je voor met zijn op ook maar naar deze"),
    "pl": wordset("się nie jest na że do to jak dla oraz ale przez"),
    "tr": wordset("ve bir bu için çok ile daha olarak ama gibi var"),
    "id": wordset("yang dan di dengan untuk ini itu tidak anda dari saya bisa"),
    "sv": wordset("och att det som är inte jag på för med ett har"),
}
_MIN_WORDS = 6
_MIN_SMALL_WORDS = 3
_OTHER_SCRIPT = "other script"
_LATIN_SCRIPT = "latin script"
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_OTHER = re.compile("[\u0370-\u1fff\u3040-\ud7af]")
_MIN_LETTERS = 10
# A title of a word or two is in Latin letters on blogs in any script.
_MIN_LATIN = 16
_MAX_CHARS = 2_000


def language_mismatch(comment: Comment, _history: History) -> Signal | None:
    """Fire where a comment is in another script than the post, or offers in another language.

    An offer is a link or a contact. Never on a language alone: readers write in theirs. In another
    script than the post's nearly nobody does, but for what is sent to any blog.
    """
    links = uncommon_links(comment)
    view = view_of(comment)
    offered = [*((k.start, k.end) for k in links), *((c.start, c.end) for c in view.contacts)]
    if not offered and view.text.isascii():
        return None
    there = _language_of_post(comment.post)
    if there is None:
        return None
    here = _language(_without(view.text, links), view.word_set)
    if here == _OTHER_SCRIPT != there:
        reason = "is written in another script than the post"
    elif offered and here not in (None, there) and there != _LATIN_SCRIPT:
        reason = "offers a link or a contact in another language than the post's"
    else:
        return None
    return Signal(name="language_mismatch", strength=0.7, reason=reason, spans=spans_of(offered))


@lru_cache(maxsize=64)
def _language_of_post(post: Post) -> str | None:
    text = text_of_post(post)
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


_ENGLISH = "Turn the pump off first, and wait for the water to settle before you open the valve."

LANGUAGE_MISMATCH = Detector(
    name="language_mismatch",
    detect=language_mismatch,
    fires_on=(
        Example(
            text="Займы онлайн без отказа и проверок, деньги сразу: https://zaim.example.com/a",
            post_title="Bleeding a radiator",
            post_excerpt=_ENGLISH,
        ),
        Example(
            text="Die besten Ventile für das Haus und die Wohnung gibt es auf ventil-kaufen.de",
            post_title="Bleeding a radiator",
            post_excerpt=_ENGLISH,
        ),
        Example(
            text="This is the casino that you have to try with your friends: https://spin.bet",
            post_title="Heizung entlüften",
            post_excerpt="Zuerst ist die Pumpe abzustellen, und das Wasser muss sich für eine"
            " Weile setzen.",
        ),
        Example(text="Где найти машину на прокат?", post_title="Bleeding a radiator in winter"),
    ),
    silent_on=(
        Example(
            text="Bei mir ist das dritte Ventil fest, und ich weiß nicht, wie man es löst.",
            post_title="Bleeding a radiator",
            post_excerpt=_ENGLISH,
        ),
        Example(text="Спасибо, у меня было точно так же, помог третий узел.", post_title="nginx"),
        Example(
            text="Die Ventile für das Haus gibt es auf ventil-kaufen.de und nicht im Baumarkt",
            post_title="Heizung entlüften",
            post_excerpt="Zuerst ist die Pumpe abzustellen, und das Wasser muss sich für eine"
            " Weile setzen.",
        ),
        Example(
            text="La vanne du bas est la bonne, voir https://fr.wikipedia.org/wiki/Radiateur pour"
            " les détails et une photo.",
            post_title="Bleeding a radiator",
            post_excerpt=_ENGLISH,
        ),
    ),
)
