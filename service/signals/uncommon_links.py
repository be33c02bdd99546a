"""Tells the links that a comment offers from common references and the site's own."""

from __future__ import annotations

from functools import lru_cache

from service.domain.comment import Comment
from service.signals.hosts import host_of, registered_domain
from service.signals.links import Link
from service.signals.reference_hosts import is_reference
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
