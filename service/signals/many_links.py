"""Sees a comment that is mostly links."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.bare_link import uncommon_links
from service.signals.detector import Detector, Example
from service.signals.spans import spans_of
from service.signals.view import view_of

_MIN_LINKS = 3
# A reader who lists sources says what each is good for; link soup has a word or two around each.
_MAX_WORDS_A_LINK = 12


def many_links(comment: Comment, _history: History) -> Signal | None:
    """Fire on three links or more, outside common references, with few words around them."""
    links = uncommon_links(comment)
    if len(links) < _MIN_LINKS:
        return None
    if len(view_of(comment).words) > len(links) * _MAX_WORDS_A_LINK:
        return None
    return Signal(
        name="many_links",
        strength=min(1.0, len(links) / 6),
        reason=f"gives {len(links)} links with few words around them",
        spans=spans_of((link.start, link.end) for link in links),
    )


MANY_LINKS = Detector(
    name="many_links",
    detect=many_links,
    fires_on=(
        Example(
            text="cialis http://a-pills.com levitra http://b-pills.com viagra http://c-pills.com"
        ),
        Example(text="[url=http://sofa1.ru]sofa[/url] [url=http://bed2.ru]bed[/url] www.chair3.ru"),
        Example(text="my shops: hatworld.shop, glovedeals.store and scarfking.top"),
    ),
    silent_on=(
        Example(
            text="Three places helped me: https://valves.example.com/bleeding explains the order in"
            " which to open the valves, https://heat.example.org/pump shows how to set the pump on"
            " older boilers like yours, and http://forum.example.net/12 has a thread of people who"
            " ended up replacing the whole loop after trying everything in your list twice."
        ),
        Example(
            text="https://en.wikipedia.org/wiki/Valve https://arxiv.org/abs/1 https://github.com/a/b"
        ),
        Example(text="It fails in a.py, b.py and c.py; d.shop() returns None"),
    ),
)
