"""Serves the metrics to whoever operates the service, and to nobody else."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable

from flask import Flask, Response, request

from service.web.edge.auth import open_to_all, presented_secret

Metrics = Callable[[], bytes]
"""Returns the text that a scrape is answered, cheaply however often it is asked."""

PATH = "/metrics"
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# With one of these a proxy spoke for somebody who may be anywhere.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")


def register_metrics(app: Flask, metrics: Metrics, *, token: str | None) -> None:
    """Serve `/metrics` to those who send the token, or, without one, to this machine alone."""

    @open_to_all
    def show_metrics() -> Response:
        if not may_read(token):
            return Response(_refusal(token), status=401, content_type="text/plain; charset=utf-8")
        return Response(metrics(), content_type=_CONTENT_TYPE)

    app.add_url_rule(PATH, view_func=show_metrics, provide_automatic_options=False)


def may_read(token: str | None) -> bool:
    """Return True if the request has the token, or comes from this machine where none is set."""
    if token is not None:
        given = presented_secret() or ""
        return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False


def _refusal(token: str | None) -> str:
    if token is not None:
        return "Send the token for metrics as Authorization: Bearer.\n"
    return "Without SLOPSIEVE_METRICS_TOKEN only the machine itself may read metrics.\n"
