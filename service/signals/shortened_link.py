"""Sees a link that hides where it leads behind a shortening service."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import host_of
from service.signals.links import Link
from service.signals.spans import spans_of
from service.signals.view import view_of
from service.signals.wordset import wordset

# Shorteners of one site for itself (youtu.be, redd.it, amzn.to, git.io) do not hide the site.
_SHORTENERS = wordset(
    "bit.ly bitly.com tinyurl.com t.co goo.gl is.gd v.gd ow.ly cutt.ly rb.gy shorturl.at buff.ly",
    "rebrand.ly tiny.cc s.id adf.ly bl.ink shorte.st ouo.io linktr.ee t.ly u.to clck.ru vk.cc",
    "qr.ae",
    "x.gd surl.li short.gy soo.gd snip.ly lnk.to dub.sh tny.im gg.gg bc.vc kutt.it 1ln.cc da.gd",
)


def shortened_link(comment: Comment, _history: History) -> Signal | None:
    """Fire on links through a public shortener; its name alone is no link."""
    links = [link for link in view_of(comment).open_links if _is_shortened(link)]
    if not links:
        return None
    return Signal(
        name="shortened_link",
        strength=1.0,
        reason="hides where a link leads behind a shortening service",
        spans=spans_of((link.start, link.end) for link in links),
    )


def _is_shortened(link: Link) -> bool:
    if link.domain not in _SHORTENERS and link.host not in _SHORTENERS:
        return False
    _, _, path = link.target.rpartition(host_of(link.target))
    return len(path.strip("/")) > 1


SHORTENED_LINK = Detector(
    name="shortened_link",
    detect=shortened_link,
    fires_on=(
        Example(text="great tips, full movie here https://bit.ly/3xYzAbC"),
        Example(text="join us: tinyurl.com/earn-daily"),
        Example(text="<a href='https://cutt.ly/AbCd'>see prices</a>"),
    ),
    silent_on=(
        Example(text="bit.ly was down again, so half the newsletter went nowhere"),
        Example(text="The talk is at https://youtu.be/abc123"),
        Example(text="The redirect is `https://t.co/abc`, look at the headers"),
    ),
)
