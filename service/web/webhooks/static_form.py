"""A static site's comment box: accepts a form or JSON from any browser."""

import hashlib
import io
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from flask import Response, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from service.domain.comment import Lane
from service.domain.errors import invalid_input
from service.domain.site import Site
from service.moderation.intake import FORM_FIELD, MAX_FIELD_CHARS
from service.web.api.intake import new_comment
from service.web.api.schemas import CommentRequest
from service.web.edge.current import services
from service.web.edge.errors import EdgeError, TooLargeError, UnreadableRequestError, wants_page
from service.web.edge.fields import is_email, is_web_address
from service.web.edge.headers import host_of, shared_with
from service.web.edge.operation import JSON, validate
from service.web.edge.overload import keep_in_line
from service.web.edge.strict_json import Json, parse
from service.web.webhooks import visitors
from service.web.webhooks.adapter import Adapter, Received
from service.web.webhooks.payload import FORM, read_form

log = logging.getLogger(__name__)

MAX_FORM_BYTES = 256 * 1024
HONEYPOT = "homepage"
_MULTIPART = "multipart/form-data"
_MAX_PARTS = 50
# The comment's fields by the form's names, including those of Staticman.
_FIELDS: Mapping[str, str] = {
    "text": "text",
    "message": "text",
    "comment": "text",
    "name": "author.name",
    "email": "author.email",
    "url": "author.url",
    "post_url": "post.url",
    "post_title": "post.title",
    "slug": "post.url",
    "reply_to": "reply_to",
    "replyto": "reply_to",
    "redirect": "redirect",
}
_FITS = {"author.email": is_email, "author.url": is_web_address, "post.url": is_web_address}


def serve(received: Received) -> ResponseReturnValue:
    """Store a visitor's comment; respond with thanks and the statement's URL, without a verdict."""
    if origin_of(received.site) is None and not _is_our_page():
        raise _foreign_page()
    given = _read(received)
    fields: dict[str, Json] = {}
    for name, value in given.items():
        # Unknown fields are ignored: forms have many.
        known = _FIELDS.get(name)
        if known and value not in ("", None):
            fields.setdefault(known, value)
    document = _validate(fields, _form(given))
    new = new_comment(document, received.site, services, lane=Lane.INTERACTIVE, key=None)
    # A second click sends the same form again.
    parts = [new.comment.fingerprint(), new.comment.sender.address_key]
    key = "form:" + hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    new = replace(new, idempotency_key=key)
    added, _ = keep_in_line(new)
    log.info("form received", extra={"hook": received.hook.id})
    comment = replace(new.comment, id=added.comment_id)
    return _thank(fields, received.site, services.statements.url_of_comment(comment))


def preflight(received: Received) -> Response:
    if origin_of(received.site) is None:
        raise _foreign_page()
    headers = {"Access-Control-Allow-Methods": "POST", "Access-Control-Max-Age": "600"}
    headers["Access-Control-Allow-Headers"] = "Content-Type"
    return Response(status=204, headers=headers)


def _foreign_page() -> EdgeError:
    return EdgeError("Comments are taken from the site's own pages alone.", status=403)


def origin_of(site: Site) -> str | None:
    """Return the origin that may read the response, or None for a page of another host."""
    given = request.headers.get("Origin") or request.headers.get("Referer") or ""
    return shared_with(site.settings.blog, given)


def _is_our_page() -> bool:
    """Return True if the form is on Slopsieve's own page of comments."""
    if request.headers.get("Sec-Fetch-Site") == "same-origin":
        return True
    # Without TLS browsers only send the origin.
    try:
        host = urlsplit(request.headers.get("Origin", "")).netloc
    except ValueError:
        return False
    return bool(host) and host == request.headers.get("Host")


def _read(received: Received) -> Mapping[str, Json]:
    """Return the form's fields; `fields[x]` and `options[x]` become `x`."""
    if request.mimetype == JSON:
        body = parse(received.body)
        given: Mapping[str, Json] = body if isinstance(body, dict) else {}
    elif request.mimetype == FORM:
        given = read_form(received.body)
    elif request.mimetype == _MULTIPART:
        given = _read_multipart(received)
    else:
        raise UnreadableRequestError(f"Send {FORM}, {_MULTIPART} or {JSON}.")
    plain: dict[str, Json] = {}
    for name, value in given.items():
        grouped = re.fullmatch(r"(?:fields|options)\[(.*)\]", name, re.DOTALL)
        plain.setdefault((grouped[1] if grouped else name).lower(), value)
    return plain


def _form(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the form's evidence as in `/v1`."""
    token = given.get(FORM_FIELD)
    is_token = isinstance(token, str) and len(token) <= MAX_FIELD_CHARS
    form: dict[str, Json] = {"token": token if is_token else ""}
    if HONEYPOT in given:
        # Some browsers fill it in automatically, so it is only evidence.
        form["honeypot_filled"] = bool(str(given[HONEYPOT] or "").strip())
    return form


def _read_multipart(received: Received) -> dict[str, str]:
    parser = FormDataParser(
        max_form_memory_size=MAX_FORM_BYTES, max_form_parts=_MAX_PARTS, silent=False
    )
    try:
        body = io.BytesIO(received.body)
        _, form, _ = parser.parse(
            body, request.mimetype, len(received.body), request.mimetype_params
        )
    except RequestEntityTooLarge:
        raise TooLargeError("The form has too many fields.") from None
    except ValueError:
        raise UnreadableRequestError("The form cannot be read.") from None
    return form.to_dict()


def _validate(fields: Mapping[str, Json], form: dict[str, Json]) -> CommentRequest:
    """Return the comment. Raises `InvalidInputError` with the field names of `/v1`.

    An invalid e-mail or web address is dropped, so that the comment is not lost.
    """
    given = {"post.url": request.headers.get("Referer"), **fields}
    given["address"] = (request.remote_addr or "").partition("%")[0]
    given["user_agent"] = request.headers.get("User-Agent", "")[:1_000]
    if not str(given.get("text", "")).strip():
        raise invalid_input("text", "is empty", "write something")
    groups: dict[str, dict[str, Json]] = {"": {}, "author": {}, "post": {}}
    for path, value in given.items():
        fits = path not in _FITS or _FITS[path](str(value))
        if fits and value not in ("", None) and path != "redirect":
            group, _, name = path.rpartition(".")
            groups[group][name] = value
    document = groups.pop("") | groups | {"form": form}
    return validate(CommentRequest, document)


def _thank(fields: Mapping[str, Json], site: Site, statement_url: str) -> ResponseReturnValue:
    """Redirect to the form's `redirect` if it is on the site, otherwise show thanks."""
    if request.mimetype == JSON or not wants_page():
        return {"status": "received", "statement_url": statement_url}, 202
    target = fields.get("redirect")
    if isinstance(target, str) and _is_own_page(target, site):
        return Response(status=303, headers={"Location": target})
    page = fields.get("post.url") or request.headers.get("Referer")
    back_to = page if isinstance(page, str) and _is_own_page(page, site) else None
    return visitors.page("visitor_thanked.html", 202, back_to=back_to, statement_url=statement_url)


def _is_own_page(target: str, site: Site) -> bool:
    """Return True if a page is on the site's own host, to prevent open redirects."""
    blog = site.settings.blog
    is_web = target.startswith(("https://", "http://"))
    is_clean = target.isascii() and target.isprintable() and "\\" not in target
    return is_web and is_clean and blog is not None and host_of(target) == host_of(blog)


ADAPTER = Adapter(verify=None, serve=serve, max_body_bytes=MAX_FORM_BYTES)
