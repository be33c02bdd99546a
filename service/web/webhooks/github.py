"""GitHub: judges comments on issues and discussions, which comment widgets use.

Issues, discussions, pull requests and reviews are judged if the webhook is subscribed to them.
"""

import re

from flask import request

from service.domain.comment import Author, Post
from service.domain.delivery import Platform
from service.domain.site import Site
from service.ports.comments import NewComment
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
from service.web.webhooks.payload import Members, as_comment, own_id, read_json_or_form, require

# GitHub's API cannot hide threads, so decisions on threads are not applied.
_THREADS = "github-thread"
# By event: the payload's members with the text and with its subject.
_WRITTEN = {
    "issue_comment": ("comment", "issue"),
    "discussion_comment": ("comment", "discussion"),
    "commit_comment": ("comment", "repository"),
    "pull_request_review": ("review", "pull_request"),
    "pull_request_review_comment": ("comment", "pull_request"),
    "issues": ("issue", "repository"),
    "discussion": ("discussion", "repository"),
    "pull_request": ("pull_request", "repository"),
}
_SHOWN = frozenset({"created", "opened", "submitted", "edited"})
# Linear time: each part is bounded by white space or a line.
_OF_THE_PAGE = re.compile(
    r"(?m)^#{1,6} +\S+[ \t]*\r?$|[\[<]?(?:https?://|www\.)\S+|\]\(https?://\S+|<!--[^<>]*+>"
)
# These may delete comments themselves.
_TRUSTED = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
# The widgets' bots open the thread of a page.
_WIDGETS = frozenset({"giscus[bot]", "utterances-bot"})


def read(received: Received) -> Event | None:
    """Return the event of a comment or thread; see `Read`."""
    event = request.headers.get("X-GitHub-Event", "")
    if event not in _WRITTEN:
        return None
    payload = read_json_or_form(received.body, request.mimetype)
    member, on = _WRITTEN[event]
    written, action = payload.of(member), payload.text("action")
    author, is_thread = written.of("user"), member not in ("comment", "review")
    number = written.id("id")
    # GitHub's API hides comments by node id.
    node = written.text("node_id") or (f"{event}-{number}" if number else None)
    prefix = _THREADS if is_thread else Platform.GITHUB
    site_comment_id = own_id(prefix, require(node, f"{member}.node_id"))
    if action == "deleted":
        return Deleted(site_comment_id=site_comment_id)
    trusted = written.text("author_association") in _TRUSTED
    widget = is_thread and author.text("login") in _WIDGETS
    if action not in _SHOWN or trusted or widget:
        return None
    new = _read_comment(written, payload.of(on), site_comment_id, received.site)
    editor = payload.of("sender").id("id")
    by_staff = action == "edited" and editor is not None and editor != author.id("id")
    if not new.comment.text or is_late(new.comment):
        return None
    return Shown(new=new, by_staff=by_staff)


def _read_comment(written: Members, post: Members, site_comment_id: str, site: Site) -> NewComment:
    """Return the comment; a thread's text includes its title."""
    user, words = written.of("user"), (written.text("title"), written.text("body"))
    return as_comment(
        site,
        text="\n\n".join(filter(None, words)),
        site_comment_id=site_comment_id,
        post=Post(
            url=post.text("html_url"),
            title=post.text("title") or post.text("name"),
            excerpt=_own_words(post.text("body") or post.text("description") or ""),
            published_at=post.moment("created_at"),
        ),
        author=Author(name=user.text("login"), account_id=user.id("id")),
        written_at=written.moment("updated_at")
        or written.moment("submitted_at")
        or written.moment("created_at"),
    )


def _own_words(body: str) -> str:
    """Return the page's description in a thread that giscus or utterances opened."""
    return _OF_THE_PAGE.sub("", body).strip()


ADAPTER = Adapter(
    verify=signed_in("X-Hub-Signature-256"), serve=serve_events(read, id_header="X-GitHub-Delivery")
)
