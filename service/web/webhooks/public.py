"""Public routes: comments of a post, the form's script and tokens, statements."""

import itertools
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from flask import (
    Blueprint,
    Response,
    g,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from markupsafe import Markup, escape
from pydantic import Field
from werkzeug.wrappers import Response as AnyResponse

from service.domain.campaign import is_by_person
from service.domain.case import Case
from service.domain.comment import MAX_URL_CHARS, CommentId
from service.domain.decision import Action
from service.domain.delivery import Platform
from service.domain.errors import NotFoundError
from service.domain.published import PublishedComment, as_published
from service.domain.site import Site
from service.moderation.intake import issue_token
from service.moderation.published import list_published
from service.moderation.revise import MAX_APPEAL_CHARS, appeal
from service.web.api.schemas import Request
from service.web.edge.auth import PUBLIC, open_to_all
from service.web.edge.current import services
from service.web.edge.errors import Answer, EdgeError
from service.web.edge.fields import is_id
from service.web.edge.headers import ANY_ORIGIN, may_frame
from service.web.edge.language import N_, current_language, gettext
from service.web.edge.operation import operation, read_bounded, read_query
from service.web.edge.static_files import FORM_SCRIPT, form_script_bytes, script_integrity
from service.web.webhooks import static_form, visitors
from service.web.webhooks.html_text import links_in_words
from service.web.webhooks.payload import read_form

# Caches may show a withdrawn comment for this time.
_FRESH_SECONDS = 60
_MAX_PAGE = 10_000


class _Asked(Request):
    post: str = Field(min_length=1, max_length=MAX_URL_CHARS)
    page: int = Field(default=1, ge=1, le=_MAX_PAGE)


class FormTokenAnswer(Answer):
    """A token for one comment: a signed challenge in the format of ALTCHA's version 2."""

    parameters: dict[str, str | int | dict[str, str | int]] = Field(
        description="The challenge: find a key that begins with `keyPrefix`."
    )
    signature: str = Field(description="Made with this installation's key, for this site.")


public = Blueprint(PUBLIC, __name__, url_prefix="/public")
"""Public routes, which need no key."""


@public.get("/<hook_id>/comments")
@open_to_all
def comments(hook_id: str) -> Response:
    _, asked, shown, has_more = _look_up(hook_id)
    next_page = asked.page + 1 if has_more else None
    answer = {"comments": [public_row(one) for one in shown], "next_page": next_page}
    return cacheable(Response(json.dumps(answer), content_type="application/json"))


@public.get("/<hook_id>/comments.html")
@open_to_all
def page(hook_id: str) -> Response:
    site, asked, shown, has_more = _look_up(hook_id)
    html = render_template(
        "public_comments.html",
        comments=shown,
        has_more=has_more,
        names={one.id: one.shown_name for one in shown},
        asked=asked,
        hook_id=hook_id,
    )
    response = make_response(html)
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; "
        f"frame-ancestors {may_frame(site.settings.blog)}"
    )
    # The response to the page's form needs the form's origin.
    response.headers["Referrer-Policy"] = "same-origin"
    response.vary.add("Accept-Language")
    return cacheable(response)


def public_row(comment: PublishedComment) -> Mapping[str, str | bool | None]:
    """Return the public members of a comment; `html` is safe to insert into a page."""
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
    """Return a text as escaped HTML with paragraphs and line breaks, and its links in words."""
    lines = links_in_words(text).splitlines()
    blocks = itertools.groupby(lines, key=lambda line: bool(line.strip()))
    return Markup("").join(
        Markup("<p>{}</p>").format(Markup("<br>").join(lines))
        for has_words, lines in blocks
        if has_words
    )


def find_box(hook_id: str) -> Site:
    """Return the site of an open comment box. Raises `NotFoundError`."""
    hook = services.inbound.get(hook_id) if is_id(hook_id) else None
    if hook is None or hook.platform is not Platform.STATIC_FORM or hook.revoked_at is not None:
        raise NotFoundError("There is no such comment box.")
    return services.sites.get(hook.site_id)


def _look_up(hook_id: str) -> tuple[Site, _Asked, list[PublishedComment], bool]:
    """Return the site, the query and a page of comments. Raises `NotFoundError`."""
    site = find_box(hook_id)
    g.shared_with = static_form.origin_of(site)
    asked = read_query(_Asked)
    return site, asked, *list_published(site, asked.post, services, page=asked.page)


def cacheable(response: Response, *, seconds: int = _FRESH_SECONDS) -> Response:
    """Allow caches to store a response, and add an ETag."""
    response.headers["Cache-Control"] = f"public, max-age={seconds}"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.add_etag()
    response.make_conditional(request)
    return response


_SCRIPT_FRESH_SECONDS = 3600
# The script's texts by its own names.
_WORDS: Mapping[str, str] = {
    "anonymous": N_("Anonymous"),
    "answers": N_("in reply to"),
    "hidden": N_("in reply to a comment that is not shown"),
    "more": N_("More comments"),
    "reply": N_("Reply to"),
    "end": N_("Cancel"),
    "text": N_("Comment"),
    "name": N_("Name (optional)"),
    "email": N_("E-mail (optional, never shown)"),
    "url": N_("Website (optional)"),
    "homepage": N_("Leave this empty"),
    "send": N_("Send"),
    "sending": N_("Sending …"),
    "waits": N_("Your comment was received. A moderator may check it before it is shown."),
    "why": N_("Status of your comment"),
    "shown": N_("Thank you. Your comment is shown here."),
    "away": N_(
        "Your comment was not sent: the service cannot be reached. Send it again in a minute."
    ),
}


class _TokenAsked(Request):
    page: Annotated[str, Field(max_length=MAX_URL_CHARS)] | None = Field(
        default=None, description="The URL of the form's page."
    )


@public.get(f"/<hook_id>/{FORM_SCRIPT}")
@open_to_all
def form_script(hook_id: str) -> Response:
    find_box(hook_id)
    # Browsers check the script's hash only with CORS.
    g.shared_with = ANY_ORIGIN
    response = Response(form_script_bytes(), content_type="text/javascript; charset=utf-8")
    return cacheable(response, seconds=_SCRIPT_FRESH_SECONDS)


@public.get("/<hook_id>/words")
@open_to_all
def form_words(hook_id: str) -> Response:
    find_box(hook_id)
    g.shared_with = ANY_ORIGIN
    words = {name: gettext(word) for name, word in _WORDS.items()}
    response = jsonify(language=current_language(), **words)
    response.vary.add("Accept-Language")
    return cacheable(response, seconds=_SCRIPT_FRESH_SECONDS)


@public.get("/<hook_id>/form-token")
@open_to_all
@operation(tag="Forms", query=_TokenAsked, problems=(403,))
def get_form_token(hook_id: str) -> tuple[FormTokenAnswer, dict[str, str]]:
    """Get a token for a comment form.

    The token is valid for one comment of this site and page, for a day. Solve it and send it in
    the hidden field `slopsieve_form`, as the script `/public/{hook_id}/form.js` does. A page of
    another site is refused with 403.
    """
    site = find_box(hook_id)
    # Before any error: a script can only read a response that has its origin.
    g.shared_with = static_form.origin_of(site)
    if g.shared_with is None:
        raise EdgeError("Tokens are for the site's own pages alone.", status=403)
    issued = issue_token(site, read_query(_TokenAsked).page, services)
    headers = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "cross-origin"}
    return FormTokenAnswer.model_validate(issued), headers


def comment_box(hook_id: str, *, service_url: str, post_url: str) -> str:
    """Return the HTML to insert into a page: the script, and a link for readers without scripts."""
    public, post = f"{escape(service_url)}/public/{hook_id}", quote(post_url, safe=":/")
    return (
        f'<script src="{public}/{FORM_SCRIPT}" crossorigin async '
        f'data-comments="{escape(post_url)}" integrity="{script_integrity()}"></script>'
        f'<noscript><a href="{public}/comments.html?post={post}">Comments</a></noscript>'
    )


# 500 characters of four bytes each, URL-encoded, and the field's name.
_MAX_BODY_BYTES = 8 * 1024


@public.get("/statements/<token>")
@open_to_all
def statement(token: str) -> AnyResponse:
    return _show(_find(token))


@public.post("/statements/<token>", endpoint="appeal")
@open_to_all
def appeal_to_moderators(token: str) -> AnyResponse:
    case = _find(token)
    text = read_form(read_bounded(_MAX_BODY_BYTES)).get("appeal", "")
    if appeal(case, text, services):
        return redirect(url_for("public.statement", token=token), HTTPStatus.SEE_OTHER)
    case = _find(token)
    if case.may_be_appealed:
        return _show(case, HTTPStatus.UNPROCESSABLE_ENTITY, refused=text)
    return _show(case, HTTPStatus.CONFLICT)


def _find(token: str) -> Case:
    """Return the case of a signed link. Raises `NotFoundError`, also for a withdrawn comment."""
    comment_id = token.partition(".")[0]
    if is_id(comment_id):
        case = services.cases.get(CommentId(comment_id))
        if services.statements.is_signed(case.comment, token) and case.withdrawn_at is None:
            return case
    raise NotFoundError("There is no such statement.")


def _show(case: Case, status: int = HTTPStatus.OK, *, refused: str | None = None) -> Response:
    """Return the page; `refused` is the text of an invalid appeal."""
    site = services.sites.get(case.comment.site_id)
    # The site's public list may omit a comment, even if the site only observes.
    is_left_out = site.settings.public_feed and as_published(case) is None
    # The same page for a comment without a verdict and for unexplained spam.
    is_known = case.is_explained or (case.action is Action.PUBLISH and not is_left_out)
    return visitors.page(
        "statement.html",
        status,
        has_form=True,
        case=case,
        is_known=is_known,
        by_person=case.decision is not None and is_by_person(case.decision),
        refused=refused,
        max_chars=MAX_APPEAL_CHARS,
    )
