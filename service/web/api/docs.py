"""Serves the OpenAPI document, for programs as JSON and for people as a page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

from flask import Flask, Response, make_response, render_template
from markupsafe import Markup, escape

from service.web.api.docs_view import view_document
from service.web.api.openapi import Document
from service.web.edge.auth import open_to_all
from service.web.edge.errors import KINDS

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_CODE = re.compile(r"`([^`]*)`")


def register_docs(app: Flask, describe: Callable[[], Document]) -> None:
    """Serve `/openapi.json` and `/docs`, which need no key.

    The document is made when it is first asked for: most processes never are.
    """
    document = cache(describe)
    as_json = cache(lambda: json.dumps(document(), ensure_ascii=False))
    view = cache(lambda: view_document(document()))
    app.add_template_filter(_prose, "prose")

    @open_to_all
    def openapi() -> Response:
        return Response(as_json(), content_type="application/json")

    @open_to_all
    def docs() -> Response:
        page = make_response(render_template("docs.html", view=view(), kinds=KINDS))
        page.headers["Content-Security-Policy"] = _POLICY
        return page

    app.add_url_rule("/openapi.json", view_func=openapi, provide_automatic_options=False)
    app.add_url_rule("/docs", view_func=docs, provide_automatic_options=False)


def _prose(text: str) -> Markup:
    """Return text for a page: escaped, with `code` set as code."""
    parts = _CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
