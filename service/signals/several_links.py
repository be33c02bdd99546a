"""Sees a comment that offers one site again and again, or several sites at once."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.bare_link import uncommon_links
from service.signals.detector import Detector, Example
from service.signals.spans import spans_of

_MIN_SITES = 3


def several_links(comment: Comment, _history: History) -> Signal | None:
    """Fire on two links to one site, or links to three sites, references not counted."""
    links = uncommon_links(comment)
    sites = {link.domain for link in links}
    if len(links) == len(sites) < _MIN_SITES:
        return None
    return Signal(
        name="several_links",
        strength=min(1.0, 0.4 + 0.2 * len(links)),
        reason="links to one site more than once"
        if len(sites) < _MIN_SITES
        else "links to several sites that readers seldom cite",
        spans=spans_of((link.start, link.end) for link in links),
    )


SEVERAL_LINKS = Detector(
    name="several_links",
    detect=several_links,
    fires_on=(
        Example(text="See https://valvehaus.shop/a, https://valvehaus.shop/b and come again"),
        Example(
            text="[loans](http://mintloan.com) [pills](http://pill-box.ru) [slots](http://spin.bet)"
        ),
        Example(text="<a href='http://drains.biz'>drains</a> or http://drains.biz/contact"),
    ),
    silent_on=(
        Example(text="The test is at https://heating.example.org/2019, mine was the Tervo."),
        Example(
            text="https://en.wikipedia.org/wiki/Valve and https://en.wikipedia.org/wiki/Pump differ"
        ),
        Example(text="Two shops had it: https://valves-a.example.com/x, https://valves-b.com/y"),
        Example(text="`get a.example.com/1` and `get a.example.com/2` answer alike"),
    ),
)
