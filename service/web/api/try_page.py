"""Serves a page on which the API can be tried: Swagger UI, from a package, under its own policy."""

from __future__ import annotations

from http import HTTPStatus
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from flask import Flask, Response, abort, make_response, render_template, send_from_directory

from service.web.edge.auth import open_to_all

_PACKAGE = "flask_swagger_ui"
# All that is served of the package, which brings more.
_FILES = frozenset({"swagger-ui.css", "swagger-ui-bundle.js"})
# It calls this server alone. Its style sheet draws its signs from data: addresses.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
# An address names the version, so what lies there never changes.
_FOR_GOOD = "public, max-age=31536000, immutable"


def register_try_page(app: Flask) -> None:
    """Serve `/docs/try` and the two files of Swagger UI that it loads; none needs a key."""
    release = version("flask-swagger-ui")
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        msg = f"the package {_PACKAGE} has no files here"
        raise RuntimeError(msg)
    folder = Path(spec.origin).parent / "dist"

    @open_to_all
    def try_api() -> Response:
        page = make_response(render_template("try.html", release=release))
        page.headers["Content-Security-Policy"] = _POLICY
        return page

    @open_to_all
    def swagger_ui(release_asked: str, name: str) -> Response:
        if release_asked != release or name not in _FILES:
            abort(HTTPStatus.NOT_FOUND)
        response = send_from_directory(folder, name)
        response.headers["Cache-Control"] = _FOR_GOOD
        return response

    app.add_url_rule("/docs/try", view_func=try_api, provide_automatic_options=False)
    app.add_url_rule(
        "/docs/swagger-ui/<release_asked>/<name>",
        view_func=swagger_ui,
        provide_automatic_options=False,
    )
