"""Builds the answers that Akismet clients compare byte by byte."""

from __future__ import annotations

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
"""The media types of the protocol's own answers; errors come as others."""


def new_guid() -> str:
    """Return a fresh id of one check. WordPress drops a verdict that comes without."""
    return uuid.uuid4().hex


def text(body: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a bare token: no newline, no mark, as clients compare for equality."""
    return Response(body, content_type=TEXT, headers=dict(headers or {}))


def refused(help_text: str) -> Response:
    """Return the answer to a call whose key or blog is not accepted."""
    return text("invalid", {DEBUG_HELP: header_text(help_text)})


def as_json(value: object) -> Response:
    """Return a JSON answer, members in their order and spaced as the protocol's page shows them."""
    return Response(json.dumps(value), content_type="application/json")


def header_text(given: str) -> str:
    """Return a sentence of ours as a header can carry it."""
    return "".join(c if " " <= c <= "~" else " " for c in given)[:300]
