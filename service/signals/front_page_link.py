"""Sees a link to a site's front page rather than to a page of it."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.regions import inside
from service.signals.segments import segments_of
from service.signals.spans import spans_of
from service.signals.uncommon_links import uncommon_links

_FRONT_PAGE = re.compile(
    r"(?:[a-z]{1,8}://)?[^/?#]{1,253}/?(?:index\.(?:html?|php)|\?utm_[^#]{0,300})?\Z", re.IGNORECASE
)


def front_page_link(comment: Comment, _history: History) -> Signal | None:
    """Fire where a link names a site alone, in a sentence that holds no "I" and no doubt."""
    links = [link for link in uncommon_links(comment) if _FRONT_PAGE.match(link.target)]
    if not links:
        return None
    # Who shares their own work says so; readers cite a page, adverts name the shop.
    own = [(s.start, s.end) for s in segments_of(comment) if s.count(Cue.ME) or s.count(Cue.HEDGE)]
    offered = [link for link in links if not inside(own, link.start)]
    if not offered:
        return None
    return Signal(
        name="front_page_link",
        strength=1.0,
        reason="links to a site as a whole rather than to a page of it",
        spans=spans_of((link.start, link.end) for link in offered),
    )


FRONT_PAGE_LINK = Detector(
    name="front_page_link",
    detect=front_page_link,
    fires_on=(
        Example(text="Bleeding radiators is so satisfying! Best valves: valvehaus.shop"),
        Example(text="What a thoughtful essay. <a href='https://mintloan.com/'>Quick loans</a>"),
        Example(text="Ein gelungener Beitrag. Günstige Ventile gibt es auf www.ventil-kaufen.de"),
    ),
    silent_on=(
        Example(text="The order is on https://valves.example.com/bleeding-order.html, page two."),
        Example(text="I keep notes on this at ana-karlsson.example.org, with photos."),
        Example(text="It is called water hammer, https://en.wikipedia.org has it."),
        Example(text="`ping example.com` works, so it is not the network."),
    ),
)
