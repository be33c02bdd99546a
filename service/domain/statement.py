"""Which comments' authors may read why they are not shown, and the signed link to that."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from service.domain.case import Case
from service.domain.comment import Comment
from service.domain.decision import Action
from service.domain.verdict import Outcome

MAX_APPEAL_CHARS = 500


def is_explained(case: Case) -> bool:
    """Return True if the author may read why a comment is held or rejected.

    Not while there is no verdict, and not of what the machine calls spam unless its site wants that
    explained: nothing tells the two apart.
    """
    verdict = case.verdict
    if verdict is None or case.withdrawn_at is not None or case.action is Action.PUBLISH:
        return False
    return verdict.outcome is not Outcome.SPAM or case.explains_spam


def may_appeal(case: Case) -> bool:
    """Return True if the author may appeal, which they may once."""
    return case.appeal is None and is_explained(case)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLinks:
    """Makes and checks the links to statements; each leads to one comment of one site alone."""

    secret: bytes = field(repr=False)
    pages_url: str = ""

    def url_of(self, case: Case) -> str | None:
        """Return the link that the site may show to the author, None where nothing is held."""
        return self.url_of_comment(case.comment) if is_explained(case) else None

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
