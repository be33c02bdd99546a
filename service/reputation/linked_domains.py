"""Names the registered domains that a comment advertises, for its history to be kept by."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.comment import Comment
from service.signals.hosts import host_of, registered_domain
from service.signals.view import view_of


def linked_domains(comment: Comment) -> Sequence[str]:
    """Return the domains of the links in the text and of the author's URL, each once.

    Left out are links that the writer quotes rather than offers, and the site's own domain:
    linking to the blog one comments on says nothing about the sender.
    """
    own = registered_domain(host_of(comment.post.url or ""))
    found = [link.domain for link in view_of(comment).links if not link.shielded]
    author = registered_domain(host_of(comment.author.url or ""))
    return tuple(dict.fromkeys(domain for domain in (*found, author) if domain and domain != own))
