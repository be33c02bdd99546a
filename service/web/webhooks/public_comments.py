"""Shows anybody the comments under a post: as JSON for a script or a build, and as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping

from flask import Blueprint, Response, g, make_response, render_template, request
from markupsafe import Markup, escape
from pydantic import BaseModel, ConfigDict, Field

from service.domain.comment import MAX_URL_CHARS
from service.domain.errors import NotFoundError
from service.domain.inbound import Platform
from service.domain.published import PublishedComment
from service.domain.site import Site
from service.moderation.telling.published import PublishedPage, list_published
from service.web.edge.auth import PUBLIC, open_to_all
from service.web.edge.current import services
from service.web.edge.ids import is_id
from service.web.edge.reading import read_query
from service.web.edge.sharing import may_frame
from service.web.webhooks import static_form

# How long what was withdrawn meanwhile may still be shown from a cache.
_FRESH_SECONDS = 60
_MAX_PAGE = 10_000


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    post: str = Field(min_length=1, max_length=MAX_URL_CHARS)
    page: int = Field(default=1, ge=1, le=_MAX_PAGE)


public = Blueprint(PUBLIC, __name__, url_prefix="/public")
"""What anybody may read of what sites show."""


@public.get("/<hook_id>/comments")
@open_to_all
def comments(hook_id: str) -> Response:
    _, asked, found = _look_up(hook_id)
    answer = {
        "comments": [public_row(one) for one in found.comments],
        "next_page": asked.page + 1 if found.has_more else None,
    }
    return cacheable(Response(json.dumps(answer), content_type="application/json"))


@public.get("/<hook_id>/comments.html")
@open_to_all
def page(hook_id: str) -> Response:
    site, asked, found = _look_up(hook_id)
    names = {one.id: one.shown_name for one in found.comments}
    html = render_template(
        "public_comments.html", found=found, names=names, asked=asked, hook_id=hook_id
    )
    response = make_response(html)
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; "
        f"frame-ancestors {may_frame(site.settings.blog)}"
    )
    # The form under the comments is told by where it was sent from.
    response.headers["Referrer-Policy"] = "same-origin"
    response.vary.add("Accept-Language")
    return cacheable(response)


def public_row(comment: PublishedComment) -> Mapping[str, str | bool | None]:
    """Return what is told of a comment in public; `html` is safe to put into a page as it is."""
    return {
        "id": comment.id,
        "post_url": comment.post_url,
        "author": comment.shown_name,
        "author_url": comment.shown_url,
        "at": comment.at.isoformat(timespec="milliseconds"),
        "text": comment.text,
        "html": str(as_html(comment.text)),
        "reply_to": comment.reply_to,
        "reply_to_hidden": comment.reply_to_hidden,
    }


@public.app_template_filter()
def as_html(text: str) -> Markup:
    """Return a text as paragraphs and line breaks, everything else escaped."""
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return Markup("").join(
        Markup("<p>{}</p>").format(Markup("<br>").join(escape(line) for line in lines))
        for lines in paragraphs
        if lines
    )


def find_box(hook_id: str) -> Site:
    """Return whose open comment box this is. Raises `NotFoundError`."""
    hook = services.inbound.get(hook_id) if is_id(hook_id) else None
    if hook is None or hook.platform is not Platform.STATIC_FORM or hook.revoked_at is not None:
        raise NotFoundError("There is no such comment box.")
    return services.sites.get(hook.site_id)


def _look_up(hook_id: str) -> tuple[Site, _Asked, PublishedPage]:
    """Return whose comments are asked for, and a page of them. Raises `NotFoundError`."""
    site = find_box(hook_id)
    g.shared_with = static_form.origin_of(site)
    asked = read_query(_Asked)
    return site, asked, list_published(site, asked.post, services, page=asked.page)


def cacheable(response: Response, *, seconds: int = _FRESH_SECONDS) -> Response:
    """Let any cache keep an answer, and a browser ask whether it is still the same."""
    response.headers["Cache-Control"] = f"public, max-age={seconds}"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.add_etag()
    response.make_conditional(request)
    return response
