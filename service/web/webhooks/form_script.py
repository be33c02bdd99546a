"""Serves what a page's comment form asks for: one script, its words, a token for each comment."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Annotated

from flask import Response, g, jsonify
from pydantic import BaseModel, ConfigDict, Field

from service.domain.comment import MAX_URL_CHARS
from service.moderation.intake.form_tokens import issue_token
from service.web.edge.answers import FormTokenAnswer
from service.web.edge.auth import open_to_all
from service.web.edge.current import services
from service.web.edge.errors import EdgeError
from service.web.edge.language import current_language, gettext, noted
from service.web.edge.operation import operation
from service.web.edge.reading import read_query
from service.web.edge.sharing import ANY_ORIGIN
from service.web.edge.static_files import FORM_SCRIPT, form_script_bytes, script_integrity
from service.web.webhooks import static_form
from service.web.webhooks.public_comments import cacheable, find_box, public

# An hour in which another version of the script may still be served from a cache.
_FRESH_SECONDS = 3600


# What the script shows, by the names that it has for it.
_WORDS: Mapping[str, str] = {
    "anonymous": noted("Anonymous"),
    "answers": noted("in reply to"),
    "hidden": noted("in reply to a comment that is not shown"),
    "more": noted("More comments"),
    "reply": noted("Reply to"),
    "end": noted("Cancel"),
    "text": noted("Comment"),
    "name": noted("Name (optional)"),
    "email": noted("E-mail (optional, never shown)"),
    "url": noted("Website (optional)"),
    "homepage": noted("Leave this empty"),
    "send": noted("Send"),
    "sending": noted("Sending …"),
    "waits": noted("Thank you. Your comment is held until a moderator approves it."),
    "why": noted("What became of your comment"),
    "shown": noted("Thank you. Your comment is shown here."),
    "away": noted(
        "Your comment was not sent: the service cannot be reached. Send it again in a minute."
    ),
}


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    page: Annotated[str, Field(max_length=MAX_URL_CHARS)] | None = Field(
        default=None, description="Where the form stands."
    )


@public.get(f"/<hook_id>/{FORM_SCRIPT}")
@open_to_all
def form_script(hook_id: str) -> Response:
    find_box(hook_id)
    # It is the same for everybody; browsers check its hash only if any page may read it.
    g.shared_with = ANY_ORIGIN
    response = Response(form_script_bytes(), content_type="text/javascript; charset=utf-8")
    return cacheable(response, seconds=_FRESH_SECONDS)


@public.get("/<hook_id>/words")
@open_to_all
def form_words(hook_id: str) -> Response:
    find_box(hook_id)
    g.shared_with = ANY_ORIGIN
    words = {name: gettext(word) for name, word in _WORDS.items()}
    response = jsonify(language=current_language(), **words)
    response.vary.add("Accept-Language")
    return cacheable(response, seconds=_FRESH_SECONDS)


@public.get("/<hook_id>/form-token")
@open_to_all
@operation(tag="Forms", query=_Asked, problems=(403,))
def get_form_token(hook_id: str) -> tuple[FormTokenAnswer, dict[str, str]]:
    """Get a token for a comment form.

    Signed here, for one comment of this site and page, for a day. Solve it, and send it in the
    hidden field `slopsieve_form`, as the script `/public/{hook_id}/form.js` does. A page of
    another site is refused with 403.
    """
    site = find_box(hook_id)
    # Before the query is read: a script can only read a refusal that names its origin.
    g.shared_with = static_form.origin_of(site)
    if g.shared_with is None:
        raise EdgeError("Tokens are for the site's own pages alone.", status=403)
    page = read_query(_Asked).page
    issued = issue_token(site, page, services)
    headers = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "cross-origin"}
    return FormTokenAnswer.model_validate(issued), headers


def comment_box(hook_id: str, *, service_url: str, post_url: str) -> str:
    """Return the line for a page: the script, and for readers without scripts a link."""
    public, post = f"{escape(service_url)}/public/{hook_id}", escape(post_url)
    return (
        f'<script src="{public}/{FORM_SCRIPT}" crossorigin async data-comments="{post}" '
        f'integrity="{script_integrity()}"></script>'
        f'<noscript><a href="{public}/comments.html?post={post}">Comments</a></noscript>'
    )
