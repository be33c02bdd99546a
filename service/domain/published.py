"""The public view of a comment, and the link to its author's statement."""

import hmac
import re
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from service.domain.case import Case
from service.domain.comment import Comment, CommentId
from service.domain.decision import Ruling
from service.domain.unseen import without_unseen
from service.domain.verdict import Outcome

MAX_POST_CHARS = 500
"""The longest URL of a post that is looked up, because of the index."""

_MAIL = re.compile(r"[^\s@]+@[^\s@]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedComment:
    """The public part of a comment, with nothing that would recognise a sender or is unseen.

    `reply_to_hidden` marks a reply to a comment that is not shown.
    """

    id: CommentId
    text: str
    at: datetime
    author_name: str | None = None
    author_url: str | None = None
    post_url: str | None = None
    reply_to: str | None = None
    reply_to_hidden: bool = False

    def __post_init__(self) -> None:
        for name in ("text", "author_name", "reply_to"):
            if given := getattr(self, name):
                object.__setattr__(self, name, without_unseen(given))

    @property
    def shown_name(self) -> str | None:
        """Return the author's name, None if it is missing or a mail address."""
        name = (self.author_name or "").strip()
        return None if not name or _MAIL.fullmatch(name) else name

    @property
    def shown_url(self) -> str | None:
        """Return the author's page, None if it is no plain web address."""
        given = (self.author_url or "").strip()
        try:
            parts = urlsplit(given)
            is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            return None
        is_plain = given.isprintable() and not any(one in given for one in " @\\\"'<>")
        return given if is_web and is_plain else None


def as_published(case: Case) -> PublishedComment | None:
    """Return the public view of a comment, None if the site does not show it, in any mode.

    Shown are comments that a moderator approved, and ham without a rejection.
    """
    if case.withdrawn_at is not None:
        return None
    if case.decision is not None:
        is_shown = case.decision.ruling is Ruling.APPROVE
    else:
        is_shown = case.verdict is not None and case.verdict.outcome is Outcome.HAM
    if not is_shown:
        return None
    comment = case.comment
    return PublishedComment(
        id=comment.id,
        text=comment.text,
        at=comment.written_at or comment.received_at,
        author_name=comment.author.name,
        author_url=comment.author.url,
        post_url=comment.post.url,
        reply_to=comment.reply_to,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLinks:
    """Creates and verifies links to statements; each is for one comment of one site."""

    secret: bytes = field(repr=False)
    pages_url: str = ""

    def url_of(self, case: Case) -> str | None:
        """Return the link for the author, None if nothing is held."""
        return self.url_of_comment(case.comment) if case.is_explained else None

    def url_of_comment(self, comment: Comment) -> str:
        """Return the link of a comment, whatever its state; a path if `pages_url` is empty."""
        return f"{self.pages_url}/public/statements/{self._token(comment)}"

    def is_signed(self, comment: Comment, token: str) -> bool:
        """Return True if a link's token was created here for this comment."""
        return hmac.compare_digest(token.encode(), self._token(comment).encode())

    def _token(self, comment: Comment) -> str:
        what = f"{comment.site_id}:{comment.id}".encode()
        return f"{comment.id}.{hmac.digest(self.secret, what, 'sha256').hex()[:32]}"
