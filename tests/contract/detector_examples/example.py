"""A comment reduced to what matters to a detector, and how many of them a detector is held to."""

from dataclasses import dataclass
from typing import Any

from service.domain.comment import Author, Post, Sender
from service.domain.sender import History
from tests.factories import make_comment


class Example:
    """One comment; its sender was never seen without a `history`."""

    def __init__(
        self,
        text: str,
        *,
        post_title: str | None = None,
        post_excerpt: str | None = None,
        author_name: str | None = None,
        author_url: str | None = None,
        trust_level: int | None = None,
        history: History | None = None,
        **changes: Any,
    ) -> None:
        of_sender = {
            key: changes.pop(key) for key in ("email_domain", "listings") if key in changes
        }
        self.history = history or History()
        self.comment = make_comment(
            text,
            post=Post(title=post_title, excerpt=post_excerpt),
            author=Author(name=author_name, url=author_url, trust_level=trust_level),
            sender=Sender(**of_sender),
            **changes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """What one detector fires on, and the sincere comments that look alike: its ham twins."""

    fires_on: tuple[Example, ...]
    silent_on: tuple[Example, ...]
