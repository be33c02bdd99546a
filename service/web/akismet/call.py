"""A call by an Akismet client: its fields, its key, the comment that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from flask import Request

from service.domain.comment import (
    MAX_EXCERPT_CHARS,
    MAX_NAME_CHARS,
    MAX_TEXT_BYTES,
    MAX_URL_CHARS,
    Author,
    Comment,
    CommentId,
    CommentKind,
    FormEvidence,
    Lane,
    Post,
)
from service.domain.site import Site, SiteKey
from service.domain.text import unslash
from service.moderation.intake import with_sender, with_token
from service.ports.comments import NewComment
from service.web.akismet.forms import FIELD, FILLED, behaviour_of, read_form, read_json
from service.web.edge.current import services
from service.web.edge.errors import TooLargeError
from service.web.edge.fields import cut, read_any_moment, valid_address, valid_email
from service.web.edge.operation import read_bounded

_KEY_LABEL = re.compile(r"[0-9a-f]{12}")
CLIENT = "Akismet client"
"""Who acts, as the audit log calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AkismetCall:
    """What came in with a valid key."""

    name: str
    fields: Mapping[str, str] = field(repr=False)
    user_agent: str = field(repr=False)
    site: Site
    key: SiteKey

    @property
    def is_test(self) -> bool:
        """Return True if the call is a test; by value, as clients send `is_test=false` too."""
        return self.fields.get("is_test", "").strip().lower() in ("1", "true")

    @property
    def recheck(self) -> bool:
        """Return True if the client has asked about this comment before."""
        return bool(self.fields.get("recheck_reason", "").strip())

    @property
    def is_wordpress(self) -> bool:
        """Return True if the caller is Akismet's plugin for WordPress."""
        return self.user_agent.startswith("WordPress/") and "Akismet/" in self.user_agent

    @property
    def slashed(self) -> bool:
        """Return True if the texts carry WordPress's backslashes.

        It adds them to what a visitor posts, so they are in first checks alone: rechecks and
        reports are read back from its database.
        """
        return self.is_wordpress and self.name == "comment-check" and not self.recheck


def read_fields(request: Request) -> dict[str, str]:
    """Return the fields of body and query; the body's go first.

    Raises `TooLargeError`, `UnreadableRequestError` or `InvalidInputError` for a body that cannot
    be read.
    """
    # 64 KiB in which every byte is escaped take 192 KiB, and WordPress sends a comment twice.
    raw = read_bounded(1024 * 1024)
    fields = read_form(request.query_string, charset=None)
    if request.mimetype == "application/json":
        return fields | read_json(raw)
    return fields | read_form(raw, charset=request.mimetype_params.get("charset"))


def presented_key(name: str, fields: Mapping[str, str], host: str) -> str | None:
    """Return the key that a call came with, by the client's order of places; None if none did."""
    # While an administrator enters a new key, WordPress still sends the stored one as `api_key`.
    key_first = name in ("verify-key", "get-subscription", "get-stats", "deactivate")
    for place in ("key", "api_key") if key_first else ("api_key", "key"):
        given = fields.get(place, "").strip()
        if given:
            return given[:200]
    label = host.partition(".")[0].lower()
    return label if _KEY_LABEL.fullmatch(label) else None


def shown(fields: Mapping[str, str], name: str) -> str | None:
    """Return a field's value without outer white space, None for an empty or absent one."""
    return fields.get(name, "").strip() or None


# As the protocol calls messages of contact forms, mails between users, and registrations.
_TO_SOMEBODY = frozenset({"contact-form", "message", "signup"})


def new_comment(call: AkismetCall, site: Site) -> NewComment:
    """Return the comment as it is to be kept; address and e-mail end here.

    Where the client tells when the comment was written, the same check again is a repeat: a
    client that lost the answer asks again. Raises `TooLargeError` for a text over the limit,
    because what is judged must be all that would be published.
    """
    fields = call.fields
    parent, filled = shown(fields, "comment_parent"), fields.get(FILLED)
    comment = Comment(
        id=CommentId(services.new_id("com")),
        site_id=site.id,
        text=read_text(call),
        received_at=services.clock(),
        # What was sent through a form to somebody stands under no post, so no page shows it. Tags
        # stand in for an excerpt, which this protocol does not have.
        post=Post()
        if fields.get("comment_type") in _TO_SOMEBODY
        else Post(
            url=cut(shown(fields, "permalink"), MAX_URL_CHARS),
            excerpt=cut(shown(fields, "comment_context"), MAX_EXCERPT_CHARS),
            published_at=read_any_moment(fields.get("comment_post_modified_gmt", "")),
        ),
        author=Author(
            name=cut(_clean(call, "comment_author"), MAX_NAME_CHARS),
            url=cut(_clean(call, "comment_author_url"), MAX_URL_CHARS),
        ),
        form=FormEvidence(
            honeypot_filled=None if filled is None else filled == "true",
            behaviour=behaviour_of(fields),
        ),
        written_at=read_any_moment(fields.get("comment_date_gmt", "")),
        user_agent=cut(shown(fields, "user_agent"), 1_000),
        reply_to=None if parent == "0" else cut(parent, 200),
        kind=CommentKind.read(fields.get("comment_type")),
    )
    comment = with_sender(
        comment,
        services,
        address=valid_address(fields.get("user_ip", "")),
        email=valid_email(_clean(call, "comment_author_email")),
    )
    if not call.is_test:
        comment = with_token(comment, fields.get(FIELD), services)
    key = f"akismet:{comment.fingerprint()}" if comment.written_at and not call.is_test else None
    return NewComment(comment=comment, lane=Lane.INTERACTIVE, idempotency_key=key)


def read_text(call: AkismetCall) -> str:
    """Return the comment's text as its author wrote it. Raises `TooLargeError`."""
    text = call.fields.get("comment_content", "")
    text = unslash(text) if call.slashed else text
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        msg = f"comment_content has more than {MAX_TEXT_BYTES} bytes and was not judged."
        raise TooLargeError(msg)
    return text


def _clean(call: AkismetCall, name: str) -> str | None:
    given = shown(call.fields, name)
    return unslash(given) if given and call.slashed else given
