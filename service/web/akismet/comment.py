"""Turns the fields of a check into a comment."""

from __future__ import annotations

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
from service.domain.site import Site
from service.domain.text import unslash
from service.moderation.intake import with_sender, with_token
from service.ports.comments import NewComment
from service.web.akismet.behaviour import FIELD, FILLED, behaviour_of
from service.web.akismet.call import AkismetCall, shown
from service.web.edge.current import services
from service.web.edge.errors import TooLargeError
from service.web.edge.given import cut, valid_address, valid_email
from service.web.edge.moments import read_any_moment

_MAX_USER_AGENT_CHARS = 1_000
_MAX_ID_CHARS = 200
_NO_PARENT = "0"
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
        post=_post(call),
        author=Author(
            name=cut(_clean(call, "comment_author"), MAX_NAME_CHARS),
            url=cut(_clean(call, "comment_author_url"), MAX_URL_CHARS),
        ),
        form=FormEvidence(
            honeypot_filled=None if filled is None else filled == "true",
            behaviour=behaviour_of(fields),
        ),
        written_at=read_any_moment(fields.get("comment_date_gmt", "")),
        user_agent=cut(shown(fields, "user_agent"), _MAX_USER_AGENT_CHARS),
        reply_to=None if parent == _NO_PARENT else cut(parent, _MAX_ID_CHARS),
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


def _post(call: AkismetCall) -> Post:
    """Return the post; its tags stand in for an excerpt, which this protocol does not have.

    What was sent through a form to somebody stands under none, so no page shows it.
    """
    if call.fields.get("comment_type") in _TO_SOMEBODY:
        return Post()
    return Post(
        url=cut(shown(call.fields, "permalink"), MAX_URL_CHARS),
        excerpt=cut(shown(call.fields, "comment_context"), MAX_EXCERPT_CHARS),
        published_at=read_any_moment(call.fields.get("comment_post_modified_gmt", "")),
    )


def _clean(call: AkismetCall, name: str) -> str | None:
    given = shown(call.fields, name)
    return unslash(given) if given and call.slashed else given
