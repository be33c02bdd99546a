"""Sees a link that stands in the open, to a site that is no common reference."""

from __future__ import annotations

from functools import lru_cache

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import host_of, registered_domain
from service.signals.links import Link
from service.signals.reference_hosts import is_reference
from service.signals.spans import spans_of
from service.signals.view import view_of_text


def uncommon_links(comment: Comment) -> tuple[Link, ...]:
    """Return the offered links that lead neither to a common reference nor to the post's site."""
    return uncommon_links_of(comment.text, comment.post.url or "")


# Several detectors ask for the same comment, one after another.
@lru_cache(maxsize=8)
def uncommon_links_of(text: str, post_url: str) -> tuple[Link, ...]:
    """Return the same for a text and the address of the post under which it stands."""
    own = host_of(post_url)
    own_domain = registered_domain(own) or own
    return tuple(
        link
        for link in view_of_text(text).open_links
        if link.domain != own_domain and not is_reference(link.host, link.domain)
    )


def bare_link(comment: Comment, _history: History) -> Signal | None:
    """Fire on a link that the writer offers, unless it leads where readers commonly point."""
    links = uncommon_links(comment)
    if not links:
        return None
    sites = len({link.domain for link in links})
    where = "a site" if sites == 1 else f"{sites} sites"
    return Signal(
        name="bare_link",
        strength=1.0,
        reason=f"links to {where} outside the references that readers commonly cite",
        spans=spans_of((link.start, link.end) for link in links),
    )


BARE_LINK = Detector(
    name="bare_link",
    detect=bare_link,
    fires_on=(
        Example(
            text="Lovely bread. Stone mills at a good price: https://millhaus-direct.shop/stone"
        ),
        Example(text="we do this daily, see <a href='http://drainpros.example.com'>our page</a>"),
        Example(text="Schöner Beitrag! Mehr dazu auf werkzeug-discount.de"),
    ),
    silent_on=(
        Example(text="The capacitor plague: https://en.wikipedia.org/wiki/Capacitor_plague"),
        Example(text="In main.py line 3 you read user.name before README.md is parsed (v1.2.3)."),
        Example(text="Your example says `curl https://api.shopfront.com/v1`, which needs a token."),
        Example(text="I tried it.it works on ASP.NET and in System.IO too"),
    ),
)
