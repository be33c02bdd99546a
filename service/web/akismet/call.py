"""A call of an Akismet client: its fields, its key and its comment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from flask import request

from service.domain.comment import (
    MAX_NAME_CHARS,
    MAX_TEXT_BYTES,
    MAX_URL_CHARS,
    Author,
    CommentKind,
    FormEvidence,
    Lane,
    Post,
)
from service.domain.site import Site, SiteKey
from service.domain.text import unslash
from service.ports.comments import NewComment
from service.web.akismet.forms import FIELD, FILLED, behaviour_of, read_form, read_json
from service.web.api.intake import receive
from service.web.edge.current import services
from service.web.edge.errors import TooLargeError
from service.web.edge.fields import cut, known_date, read_any_moment, valid_address, valid_email
from service.web.edge.operation import read_bounded

_KEY_LABEL = re.compile(r"[0-9a-f]{12}")
CLIENT = "Akismet client"
"""The actor's name in the audit log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AkismetCall:
    """A call with a valid key."""

    name: str
    fields: Mapping[str, str] = field(repr=False)
    user_agent: str = field(repr=False)
    site: Site
    key: SiteKey

    @property
    def is_test(self) -> bool:
        """Return True if the call is a test. Clients also send `is_test=false`."""
        return self.fields.get("is_test", "").strip().lower() in ("1", "true")

    @property
    def recheck(self) -> bool:
        """Return True if the client has checked this comment before."""
        return bool(self.fields.get("recheck_reason", "").strip())

    @property
    def is_wordpress(self) -> bool:
        """Return True if the client is Akismet's plugin for WordPress."""
        return self.user_agent.startswith("WordPress/") and "Akismet/" in self.user_agent

    @property
    def slashed(self) -> bool:
        """Return True if the texts have WordPress's backslashes.

        WordPress adds them to posted fields, so only a first check has them. It reads rechecks and
        reports from its database.
        """
        return self.is_wordpress and self.name == "comment-check" and not self.recheck


def read_fields() -> dict[str, str]:
    """Return the fields of body and query; the body takes precedence.

    Raises `TooLargeError`, `UnreadableRequestError` or `InvalidInputError` for an invalid body.
    """
    # 64 KiB of text take 192 KiB if every byte is escaped, and WordPress sends a comment twice.
    raw = read_bounded(1024 * 1024)
    fields = read_form(request.query_string, charset=None)
    if request.mimetype == "application/json":
        return fields | read_json(raw)
    return fields | read_form(raw, charset=request.mimetype_params.get("charset"))


def presented_key(name: str, fields: Mapping[str, str], host: str) -> str | None:
    """Return the call's key, or None. It is a field, or the first label of the host name."""
    # When an administrator enters a new key, WordPress still sends the stored one as `api_key`.
    key_first = name in ("verify-key", "get-subscription", "get-stats", "deactivate")
    for place in ("key", "api_key") if key_first else ("api_key", "key"):
        given = fields.get(place, "").strip()
        if given:
            return given[:200]
    label = host.partition(".")[0].lower()
    return label if _KEY_LABEL.fullmatch(label) else None


def shown(fields: Mapping[str, str], name: str) -> str | None:
    """Return a field's stripped value, or None if it is empty or missing."""
    return fields.get(name, "").strip() or None


# The protocol's types for contact forms, messages between users and registrations.
_TO_SOMEBODY = frozenset({"contact-form", "message", "signup"})


def new_comment(call: AkismetCall, site: Site) -> NewComment:
    """Return the comment to store, with address and e-mail replaced by keyed hashes.

    If the client sends the time of writing, the same check again is a repeat: a client retries
    when it lost the response. Raises `TooLargeError` for a text over the limit, because the full
    published text must be judged.
    """
    fields = call.fields
    parent, filled = shown(fields, "comment_parent"), fields.get(FILLED)
    comment = receive(
        site,
        services,
        address=valid_address(fields.get("user_ip", "")),
        email=valid_email(_clean(call, "comment_author_email")),
        token=None if call.is_test else fields.get(FIELD),
        text=read_text(call),
        # A message or a registration belongs to no post. The protocol has no excerpt, so the
        # post's tags are used.
        post=Post()
        if fields.get("comment_type") in _TO_SOMEBODY
        else Post(
            url=cut(shown(fields, "permalink"), MAX_URL_CHARS),
            excerpt=shown(fields, "comment_context"),
            published_at=known_date(read_any_moment(fields.get("comment_post_modified_gmt", ""))),
        ),
        author=Author(
            name=cut(_clean(call, "comment_author"), MAX_NAME_CHARS),
            url=cut(_clean(call, "comment_author_url"), MAX_URL_CHARS),
        ),
        form=FormEvidence(
            honeypot_filled=None if filled is None else filled == "true",
            behaviour=behaviour_of(fields),
        ),
        written_at=known_date(read_any_moment(fields.get("comment_date_gmt", ""))),
        user_agent=cut(shown(fields, "user_agent"), 1_000),
        reply_to=None if parent == "0" else cut(parent, 200),
        kind=CommentKind.read(fields.get("comment_type")),
    )
    keep = not call.is_test
    key = f"akismet:{comment.fingerprint()}" if keep and comment.written_at is not None else None
    return NewComment(comment=comment, lane=Lane.INTERACTIVE, idempotency_key=key, keep=keep)


def read_text(call: AkismetCall) -> str:
    """Return the comment's text without WordPress's backslashes. Raises `TooLargeError`."""
    text = call.fields.get("comment_content", "")
    text = unslash(text) if call.slashed else text
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        msg = f"comment_content has more than {MAX_TEXT_BYTES} bytes and was not judged."
        raise TooLargeError(msg)
    return text


def _clean(call: AkismetCall, name: str) -> str | None:
    given = shown(call.fields, name)
    return unslash(given) if given and call.slashed else given
