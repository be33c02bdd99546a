"""Pages and error texts for visitors who send a comment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from flask import Response, make_response, render_template

from service.domain.comment import MAX_NAME_CHARS, MAX_TEXT_BYTES, MAX_URL_CHARS
from service.web.edge.errors import ProblemAnswer, ProblemField
from service.web.edge.language import gettext, noted

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action {form_action}"
)
# A visitor's fields by path: name, advice, and values for the advice.
_TYPED: Mapping[str, tuple[str, str, Mapping[str, object]]] = {
    "text": (
        noted("Comment"),
        noted("Write something; at most %(most)s bytes are taken."),
        {"most": MAX_TEXT_BYTES},
    ),
    "author.name": (
        noted("Name"),
        noted("At most %(most)s characters; it may stay empty."),
        {"most": MAX_NAME_CHARS},
    ),
    "author.email": (noted("E-mail"), noted("An e-mail address; it may stay empty."), {}),
    "author.url": (
        noted("Website"),
        noted("A web address of at most %(most)s characters; it may stay empty."),
        {"most": MAX_URL_CHARS},
    ),
}
_OWNERS = noted("Set by the page, not by you. Tell the site's owner that this field is refused.")
_REFUSED = {
    HTTPStatus.UNAUTHORIZED: (
        noted("There is no comment box here"),
        noted("Tell the site's owner: the address that the form sends to is wrong."),
    ),
    HTTPStatus.FORBIDDEN: (
        noted("Not from this page"),
        noted("Comments are accepted only from the site's own pages. Open the page there."),
    ),
    HTTPStatus.NOT_FOUND: (noted("Page not found"), noted("The address may be mistyped.")),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        noted("A form sends to this address"),
        noted("Go back to the page with the form."),
    ),
    HTTPStatus.GONE: (
        noted("Comments are closed"),
        noted("The site's owner has closed this comment box."),
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        noted("Your comment is too long"),
        noted("Shorten it and send it again."),
    ),
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        noted("Your comment was not sent"),
        noted("Correct the fields named here and send it again."),
    ),
    HTTPStatus.TOO_MANY_REQUESTS: (
        noted("Too many comments at once"),
        noted("Nothing was kept. Wait a minute and send it again."),
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        noted("Comments cannot be accepted at the moment"),
        noted("Nothing was kept. Send it again in a minute."),
    ),
}
_UNFORESEEN = (
    noted("Your comment was not sent"),
    noted("The fault is not yours. Try again later, or tell the site's owner."),
)
# After these the visitor goes back and sends the form again.
_SENT_AGAIN = frozenset({413, 422, 429, 503})


def refuse(document: ProblemAnswer) -> Response:
    """Return a page with the reason for a refusal and its remedy."""
    title, advice = _REFUSED.get(HTTPStatus(document.status), _UNFORESEEN)
    return page(
        "visitor_refused.html",
        document.status,
        title=gettext(title),
        advice=gettext(advice),
        fields=_in_words(document.errors),
        goes_back=document.status in _SENT_AGAIN,
    )


def in_words(document: ProblemAnswer) -> ProblemAnswer:
    """Return the document with title and detail for the visitor."""
    title, advice = _REFUSED.get(HTTPStatus(document.status), _UNFORESEEN)
    fields = (f"{name}: {remedy}" for name, remedy in _in_words(document.errors))
    detail = " ".join((gettext(advice), *fields))
    return document.model_copy(update={"title": gettext(title), "detail": detail})


def _in_words(problems: Sequence[ProblemField]) -> list[tuple[str, str]]:
    """Return each refused field's name, once, and its advice."""
    found: dict[str, tuple[str, str]] = {}
    for problem in problems:
        if problem.field in _TYPED:
            name, advice, values = _TYPED[problem.field]
            found[problem.field] = gettext(name), gettext(advice, **values)
        else:
            found[problem.field] = problem.field, gettext(_OWNERS)
    return list(found.values())


def page(template: str, status: int, *, has_form: bool = False, **values: object) -> Response:
    """Return a page for visitors; its policy only allows forms with `has_form`."""
    response = make_response(render_template(template, **values), status)
    policy = _POLICY.format(form_action="'self'" if has_form else "'none'")
    response.headers["Content-Security-Policy"] = policy
    return response
