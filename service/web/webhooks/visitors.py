"""Pages and error texts for visitors who send a comment."""

from html import unescape

from flask import Response, get_template_attribute, make_response, render_template

from service.domain.comment import MAX_NAME_CHARS, MAX_TEXT_BYTES, MAX_URL_CHARS
from service.web.edge.errors import ProblemAnswer

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action {form_action}"
)
# The limits that visitors read, by the field's path.
_MOST = {"text": MAX_TEXT_BYTES, "author.name": MAX_NAME_CHARS, "author.url": MAX_URL_CHARS}


def refuse(document: ProblemAnswer) -> Response:
    """Return a page with the reason for a refusal and its remedy."""
    status, fields = document.status, _fields(document)
    return page("visitor_refused.html", status, status=status, fields=fields, most=_MOST)


def in_words(document: ProblemAnswer) -> ProblemAnswer:
    """Return the document with title and detail for the visitor."""
    fields = (
        f"{_text('field_name', path)}: {_text('field_advice', path, _MOST.get(path))}"
        for path in _fields(document)
    )
    detail = " ".join((_text("advice", document.status), *fields))
    return document.model_copy(update={"title": _text("title", document.status), "detail": detail})


def _fields(document: ProblemAnswer) -> list[str]:
    return list(dict.fromkeys(problem.field for problem in document.errors))


def _text(macro: str, *values: object) -> str:
    return unescape(get_template_attribute("visitor_words.html", macro)(*values))


def page(template: str, code: int, *, has_form: bool = False, **values: object) -> Response:
    """Return a page for visitors; its policy only allows forms with `has_form`."""
    response = make_response(render_template(template, **values), code)
    policy = _POLICY.format(form_action="'self'" if has_form else "'none'")
    response.headers["Content-Security-Policy"] = policy
    return response
