"""GitHub: judges comments on issues and discussions, where comment widgets keep theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.ports.services import Services
from service.web.webhooks.events import is_late, serve_events
from service.web.webhooks.payload import (
    Draft,
    Members,
    as_comment,
    own_id,
    read_json_or_form,
    require,
)
from service.web.webhooks.received import Adapter, Deleted, Event, Received, Shown
from service.web.webhooks.signatures import require_hex_signature

_HEADER = "X-Hub-Signature-256"
_NAME = "github"
# By event: the member of the payload that was commented on.
_POSTS = {"issue_comment": "issue", "discussion_comment": "discussion"}
# Each part is bounded by white space or a line, so that no text takes long.
_OF_THE_PAGE = re.compile(r"(?m)^#{1,6} +\S+[ \t]*\r?$|\[?https?://\S+|\]\(https?://\S+")
# Who may delete comments there anyway.
_TRUSTED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


def verify(received: Received) -> None:
    """See `Adapter.verify`."""
    require_hex_signature(
        received.headers.get(_HEADER), received.body, received.hook.secret, header=_HEADER
    )


def read(received: Received, services: Services) -> Sequence[Event]:
    """See `Read`: comments that were written, edited, deleted."""
    event = received.headers.get("X-GitHub-Event", "")
    if event not in _POSTS:
        return ()
    payload = read_json_or_form(received.body, received.media_type)
    comment, action = payload.of("comment"), payload.text("action")
    site_comment_id = _own_id(event, comment)
    if action == "deleted":
        return [Deleted(site_comment_id=site_comment_id)]
    trusted = comment.text("author_association") in _TRUSTED
    if action not in ("created", "edited") or trusted:
        return ()
    draft = _draft(event, payload, site_comment_id)
    new = as_comment(draft, received.site, services.reputation, services.common)
    return [Shown(new=new)] if draft.text and not is_late(new.comment, received) else ()


def _own_id(event: str, comment: Members) -> str:
    """Return a comment's id: the node id, by which GitHub's API hides comments too."""
    number = comment.id("id")
    given = comment.text("node_id") or (f"{event}-{number}" if number else None)
    return own_id(_NAME, require(given, "comment.node_id"))


def _draft(event: str, payload: Members, site_comment_id: str) -> Draft:
    comment, post = payload.of("comment"), payload.of(_POSTS[event])
    user = comment.of("user")
    return Draft(
        text=comment.text("body") or "",
        site_comment_id=site_comment_id,
        post_url=post.text("html_url"),
        post_title=post.text("title"),
        post_excerpt=_own_words(post.text("body") or "") or None,
        author_name=user.text("login"),
        author_id=user.id("id"),
        written_at=comment.moment("updated_at") or comment.moment("created_at"),
    )


def _own_words(body: str) -> str:
    """Return what a widget wrote of the page, without the page's address and a heading of a path.

    giscus and utterances open a thread with the page's path or title, description and URL.
    """
    return _OF_THE_PAGE.sub("", body).strip()


ADAPTER = Adapter(
    verify=verify,
    serve=serve_events(read, lambda received: received.headers.get("X-GitHub-Delivery")),
)
