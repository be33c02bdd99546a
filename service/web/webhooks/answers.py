"""Builds the answers to platforms."""

from __future__ import annotations

import json

from flask import Response


def as_json(value: object, status: int = 200) -> Response:
    """Return a JSON answer."""
    return Response(json.dumps(value), status=status, content_type="application/json")
