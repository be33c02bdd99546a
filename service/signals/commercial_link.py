"""Sees a link whose address is named like a shop or a service."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.shop_names import sounds_commercial
from service.signals.spans import spans_of
from service.signals.uncommon_links import uncommon_links


def commercial_link(comment: Comment, _history: History) -> Signal | None:
    """Fire where the words or the ending of a linked host are those of somebody who sells."""
    links = [link for link in uncommon_links(comment) if sounds_commercial(link.host)]
    if not links:
        return None
    return Signal(
        name="commercial_link",
        strength=1.0,
        reason="links to an address that is named like a shop or a service",
        spans=spans_of((link.start, link.end) for link in links),
    )


COMMERCIAL_LINK = Detector(
    name="commercial_link",
    detect=commercial_link,
    fires_on=(
        Example(text="More about it on https://quick-loans-today.com/apply"),
        Example(text="parts at valvehaus.shop"),
        Example(text="[our page](http://www.megaessaywriters.net)"),
    ),
    silent_on=(
        Example(text="I put the measurements on https://ana-karlsson.example.org/radiators"),
        Example(text="github.com/valve/pump has the schematics"),
        Example(text="They link to `https://cheap-pills.shop` from every page, delete them please"),
    ),
)
