"""The signed link by which an author reads why a comment is held or rejected."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from service.domain.case import Case
from service.domain.comment import Comment


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLinks:
    """Makes and checks the links to statements; each leads to one comment of one site alone."""

    secret: bytes = field(repr=False)
    pages_url: str = ""

    def url_of(self, case: Case) -> str | None:
        """Return the link that the site may show to the author, None where nothing is held."""
        return self.url_of_comment(case.comment) if case.is_explained else None

    def url_of_comment(self, comment: Comment) -> str:
        """Return the link of a comment that is kept, whatever becomes of it.

        It is a path on this host where nobody told the service its own address.
        """
        return f"{self.pages_url}/public/statements/{self._token(comment)}"

    def is_signed(self, comment: Comment, token: str) -> bool:
        """Return True if a link's token was made here, for this comment."""
        return hmac.compare_digest(token.encode(), self._token(comment).encode())

    def _token(self, comment: Comment) -> str:
        what = f"{comment.site_id}:{comment.id}".encode()
        return f"{comment.id}.{hmac.digest(self.secret, what, 'sha256').hex()[:32]}"
