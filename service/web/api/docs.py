"""Serves the OpenAPI document, and the page on which people read and try the API: Swagger UI."""

from __future__ import annotations

import json
import re
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from flask import Flask, Response, abort, make_response, render_template, send_from_directory
from markupsafe import Markup, escape

from service.web.api.openapi import describe
from service.web.edge.auth import open_to_all
from service.web.edge.errors import KINDS
from service.web.edge.reading import JSON

# All that is served of `flask_swagger_ui`, which brings more.
_FILES = frozenset({"swagger-ui.css", "swagger-ui-bundle.js"})
# It calls this server alone. Its style sheet draws its signs from data: addresses.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
# An address names the version, so what lies there never changes.
_FOR_GOOD = "public, max-age=31536000, immutable"
_CODE = re.compile(r"`([^`]*)`")


def register_docs(app: Flask) -> None:
    """Serve `/openapi.json`, `/docs` and the two files of Swagger UI; none needs a key.

    The document is made when it is first asked for: most processes never are.
    """
    as_json = cache(lambda: json.dumps(describe(), ensure_ascii=False))
    release = version("flask-swagger-ui")
    folder = Path(str(files("flask_swagger_ui"))) / "dist"
    app.add_template_filter(_prose, "prose")

    @app.get("/openapi.json")
    @open_to_all
    def openapi() -> Response:
        return Response(as_json(), content_type=JSON)

    @app.get("/docs")
    @open_to_all
    def docs() -> Response:
        page = make_response(render_template("docs.html", release=release, kinds=KINDS))
        page.headers["Content-Security-Policy"] = _POLICY
        return page

    @app.get("/docs/swagger-ui/<release_asked>/<name>")
    @open_to_all
    def swagger_ui(release_asked: str, name: str) -> Response:
        if release_asked != release or name not in _FILES:
            abort(HTTPStatus.NOT_FOUND)
        response = send_from_directory(folder, name)
        response.headers["Cache-Control"] = _FOR_GOOD
        return response


def _prose(text: str) -> Markup:
    """Return text for a page: escaped, with `code` set as code."""
    parts = _CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
