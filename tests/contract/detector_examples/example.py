"""A comment reduced to what matters to a detector, and how many of them a detector is held to."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from service.domain.comment import (
    Author,
    Comment,
    CommentKind,
    Edit,
    FormEvidence,
    Listing,
    Post,
    Sender,
)
from service.domain.sender import History
from tests.factories import make_comment


@dataclass(frozen=True, slots=True)
class Example:
    """One comment. `history` defaults to "never seen"."""

    text: str
    _: KW_ONLY
    post_title: str | None = None
    post_excerpt: str | None = None
    author_name: str | None = None
    author_url: str | None = None
    email_domain: str | None = None
    listings: tuple[Listing, ...] = ()
    form: FormEvidence = field(default_factory=FormEvidence)
    history: History = field(default_factory=History)
    trust_level: int | None = None
    kind: CommentKind | None = None
    edit: Edit | None = None
    site_comment_id: str | None = None

    @property
    def comment(self) -> Comment:
        """Return the comment as a detector gets it."""
        return make_comment(
            self.text,
            post=Post(title=self.post_title, excerpt=self.post_excerpt),
            author=Author(name=self.author_name, url=self.author_url, trust_level=self.trust_level),
            sender=Sender(email_domain=self.email_domain, listings=self.listings),
            kind=self.kind,
            edit=self.edit,
            site_comment_id=self.site_comment_id,
            form=self.form,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """What one detector fires on, and the sincere comments that look alike: its ham twins."""

    fires_on: tuple[Example, ...]
    silent_on: tuple[Example, ...]
