"""What an adapter is handed, and what an adapter is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from flask.typing import ResponseReturnValue

from service.domain.inbound import InboundHook
from service.domain.site import Site
from service.ports.comments import NewComment

# Platforms send the whole issue or report along; GitHub's own cap is 25 MB, which only pushes of
# many commits come near. A comment, its issue and the words before an edit stay below 1.2 MB with
# every character escaped.
MAX_BODY_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What Flask's `request` does not know of a call to a hook: whose it is, and its body."""

    hook: InboundHook
    site: Site
    body: bytes = field(repr=False)

    @property
    def by(self) -> str:
        """Return who acts, as the audit log names it."""
        return f"{self.hook.platform.value} webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The platform shows this comment now: a new one, an edited one, or one that it restored.

    `by_staff` is an edit by somebody who may moderate there and is not the author.
    """

    new: NewComment
    recovers: bool = False
    by_staff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """The platform shows this comment no more, since `at`: now where it does not tell."""

    site_comment_id: str
    at: datetime | None = None


Event = Shown | Deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """How one platform's requests are checked and answered.

    `verify` raises `NotAuthenticatedError` unless the platform sent the request; None is for the
    one whose senders are anybody's browsers. `serve` answers a verified request.
    """

    verify: Callable[[Received], None] | None
    serve: Callable[[Received], ResponseReturnValue]
    max_body_bytes: int = MAX_BODY_BYTES


Read = Callable[[Received], Sequence[Event]]
"""Reads a request's events; none for what has nothing to do with comments. Raises
`UnreadableRequestError` or `InvalidInputError` for what is not the platform's own format."""
