"""Discourse: judges the posts of its topics, follows edits and deletions."""

from collections.abc import Mapping
from urllib.parse import quote

from flask import request

from service.domain.comment import MOST_TRUST, Author, Post
from service.domain.delivery import Platform
from service.domain.site import Site
from service.ports.comments import NewComment
from service.web.edge.current import services
from service.web.webhooks.adapter import (
    Adapter,
    Deleted,
    Event,
    Received,
    Shown,
    is_late,
    serve_events,
    signed_in,
)
from service.web.webhooks.html_text import html_to_text
from service.web.webhooks.payload import Members, as_comment, own_id, read_json, require

_SHOWN = frozenset({"post_created", "post_edited", "post_recovered"})
# Other types are moderators' notes, whispers and posts by the forum.
_ORDINARY_POST = 1
# Other levels are unknown.
_TRUST: Mapping[str | None, int] = {str(level): level for level in range(MOST_TRUST + 1)}


def read(received: Received) -> Event | None:
    """Return the event of a post that was written, edited, removed or recovered; see `Read`."""
    event = request.headers.get("X-Discourse-Event", "")
    if event not in _SHOWN and event != "post_destroyed":
        return None
    # Discourse sends JSON, whatever content type is chosen there.
    post = read_json(received.body).of("post")
    site_comment_id = own_id(Platform.DISCOURSE, require(post.id("id"), "post.id"))
    is_deleted = event == "post_destroyed" or bool(post.get("deleted_at"))
    if event == "post_recovered":
        # The post is visible again, so an applied rejection is over.
        services.applied.remove(received.site.id, site_comment_id)
        services.comments.forget_deletion(received.site.id, site_comment_id)
    elif is_deleted and services.applied.get(received.site.id, site_comment_id):
        # Slopsieve deleted it. Undoing the rejection recovers the post, so its text is kept.
        return None
    if is_deleted or post.is_true("user_deleted"):
        return Deleted(site_comment_id=site_comment_id, at=post.moment("deleted_at"))
    author, editor = post.id("user_id"), post.id("last_editor_id")
    # Any member may have edited a wiki, so that an edit is the editor's or nobody's.
    is_shared = post.is_true("wiki") and event != "post_created" and editor != author
    if not _is_judged(post, by_anyone=is_shared):
        return None
    # Only the staff can edit a locked post. What Discourse sends of itself names no editor.
    is_edit, locked = event == "post_edited", post.is_true("locked")
    by_staff = is_edit and (locked or editor not in (None, author))
    if is_shared and not locked:
        by_staff, own = False, {"user_id": editor, "name": None, "username": None}
        post = Members({**post.value, **own, "trust_level": None})
    new = _read_comment(post, site_comment_id, received.site)
    recovers = event == "post_recovered"
    if not new.comment.text or (is_late(new.comment) and not recovers):
        return None
    return Shown(new=new, recovers=recovers, by_staff=by_staff)


def _is_judged(post: Members, *, by_anyone: bool) -> bool:
    """Return True if a post is public and not by staff, or changed by anyone."""
    if post.get("post_type") not in (None, _ORDINARY_POST):
        return False
    is_staff = any(post.is_true(role) for role in ("admin", "moderator", "staff"))
    return (by_anyone or not is_staff) and post.text("topic_archetype") != "private_message"


def _read_comment(post: Members, site_comment_id: str, site: Site) -> NewComment:
    return as_comment(
        site,
        # `raw` is Markdown, `cooked` is HTML.
        text=post.text("raw") or html_to_text(post.text("cooked") or ""),
        site_comment_id=site_comment_id,
        post=Post(url=_topic_url(post), title=post.text("topic_title")),
        author=Author(
            name=post.text("name") or post.text("username"),
            account_id=post.id("user_id"),
            trust_level=_TRUST.get(post.id("trust_level")),
        ),
        written_at=post.moment("updated_at") or post.moment("created_at"),
    )


def _topic_url(post: Members) -> str | None:
    forum, topic_id = request.headers.get("X-Discourse-Instance", ""), post.id("topic_id")
    if topic_id is None or not forum.startswith(("https://", "http://")):
        return None
    slug = quote(post.text("topic_slug") or "-", safe="")
    return f"{forum.rstrip('/')}/t/{slug}/{quote(topic_id, safe='')}"


ADAPTER = Adapter(
    verify=signed_in("X-Discourse-Event-Signature"),
    serve=serve_events(read, id_header="X-Discourse-Event-Id"),
)
