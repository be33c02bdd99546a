"""Lets browsers install the pages: a manifest, a service worker, a page for when it is offline."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

from flask import Blueprint, Response, render_template, url_for
from flask.typing import ResponseReturnValue

from service.web.edge.auth import open_to_all
from service.web.edge.language import current_language, gettext
from service.web.edge.static_files import static_digest

_WORKER = Path(__file__).parents[2] / "static" / "service-worker.js"
_KEPT_FILES = ("shell.css", "icon.svg")
# The grounds of a page, light, and of the sign.
_PAPER, _BRAND = "#f4f2ec", "#1f4a4d"


def add_installable(pages: Blueprint) -> None:
    """Add the manifest, the service worker and the page for offline, the same for everybody."""

    @pages.get("/manifest.webmanifest")
    @open_to_all
    def manifest() -> ResponseReturnValue:
        sign = {"type": "image/svg+xml", "sizes": "any"}
        content = {
            "name": "Slopsieve",
            "short_name": "Slopsieve",
            "description": gettext("Comments that wait for a moderator"),
            "lang": current_language(),
            "id": "/review",
            "start_url": url_for("pages.queue"),
            "scope": "/",
            "display": "standalone",
            "background_color": _PAPER,
            "theme_color": _BRAND,
            "icons": [
                {"src": _static("icon.svg"), "purpose": "any", **sign},
                {"src": _static("icon-maskable.svg"), "purpose": "maskable", **sign},
                {"src": _static("icon-192.png"), "type": "image/png", "sizes": "192x192"},
            ],
        }
        return Response(
            json.dumps(content, ensure_ascii=False), content_type="application/manifest+json"
        )

    @pages.get("/service-worker.js")
    @open_to_all
    def service_worker() -> ResponseReturnValue:
        return Response(_WORKER.read_bytes(), content_type="text/javascript; charset=utf-8")

    @pages.get("/offline")
    @open_to_all
    def offline() -> ResponseReturnValue:
        return render_template("offline.html")

    pages.context_processor(lambda: {"worker_url": worker_url})


def worker_url() -> str:
    """Return the worker's address, which changes with what it is to keep."""
    query = [
        ("shell", f"{static_digest()}-{current_language()}"),
        *(("file", _static(name)) for name in _KEPT_FILES),
    ]
    return f"{url_for('pages.service_worker')}?{urlencode(query)}"


def _static(name: str) -> str:
    return url_for("static", filename=name)
