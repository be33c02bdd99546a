"""Serves style sheets and scripts with cacheable URLs.

Every URL contains a digest of all files: `/static/3f9a0c…/review.css`. Relative URLs, such as those
of a script's modules, contain it too.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, send_from_directory

from service.web.edge.auth import open_to_all

_FOLDER = Path(__file__).parents[1] / "static"
FORM_SCRIPT = "form.js"
_DIGEST_CHARS = 16
_VERSIONED = re.compile(rf"([0-9a-f]{{{_DIGEST_CHARS}}})/(.+)", re.DOTALL)


def register_static(app: Flask) -> None:
    """Serve the files under `/static/`, and add the digest to `url_for("static", …)`.

    A URL without the digest, or with that of another version, returns the current file without
    caching: during an upgrade pages of both versions are open.
    """

    @open_to_all
    def static(filename: str) -> Response:
        found = _VERSIONED.fullmatch(filename)
        digest, name = found.groups() if found else ("", filename)
        response = send_from_directory(_FOLDER, name)
        is_current = digest == static_digest() and response.status_code < 400
        for_good = "public, max-age=31536000, immutable"
        response.headers["Cache-Control"] = for_good if is_current else "no-cache"
        return response

    def with_digest(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            values["filename"] = f"{static_digest()}/{values['filename']}"

    app.add_url_rule("/static/<path:filename>", "static", static)
    app.url_defaults(with_digest)


@cache
def static_digest() -> str:
    """Return a digest of all files' names and contents."""
    digest = hashlib.sha256()
    for path in sorted(one for one in _FOLDER.rglob("*") if one.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_FOLDER).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGEST_CHARS]


@cache
def form_script_bytes() -> bytes:
    return (_FOLDER / FORM_SCRIPT).read_bytes()


@cache
def script_integrity() -> str:
    """Return the form script's hash for an `integrity` attribute."""
    return "sha384-" + base64.b64encode(hashlib.sha384(form_script_bytes()).digest()).decode()
