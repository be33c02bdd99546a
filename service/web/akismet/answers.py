"""Responses of the Akismet protocol, which clients compare byte by byte."""

import json
import uuid
from collections.abc import Mapping

from flask import Response

GUID = "X-akismet-guid"
PRO_TIP = "X-akismet-pro-tip"
RECHECK_AFTER = "X-akismet-recheck-after"
DEBUG_HELP = "X-akismet-debug-help"
ERROR = "X-akismet-error"

BAD_BLOG = "blog must be the address of the front page, such as https://blog.example/."

TEXT = "text/plain; charset=utf-8"
MEDIA = frozenset({"text/plain", "application/json"})
"""The media types of the protocol's own responses; errors have other types."""


def new_guid() -> str:
    """Return a new id of a check. WordPress ignores a verdict without one."""
    return uuid.uuid4().hex


def text(body: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a plain text response. Clients compare for equality, so no newline is added."""
    return Response(body, content_type=TEXT, headers=dict(headers or {}))


def refused(help_text: str) -> Response:
    """Return the response to a call whose key or blog is not accepted."""
    return text("invalid", {DEBUG_HELP: header_text(help_text)})


def as_json(value: object) -> Response:
    """Return a JSON response with the order and the spaces of the protocol's documentation."""
    return Response(json.dumps(value), content_type="application/json")


def header_text(given: str) -> str:
    """Return at most 300 characters of text for a header, with spaces for all but ASCII."""
    return "".join(c if " " <= c <= "~" else " " for c in given)[:300]
