"""Builds the Flask application from services and a configuration."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Flask, Response, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from werkzeug.middleware.proxy_fix import ProxyFix

from service.moderation.figures import FiguresCache
from service.moderation.intake import submit_comments
from service.ports.services import Services
from service.web.akismet.server import identify_akismet, register_akismet
from service.web.api import callbacks, comments, sites  # noqa: F401  # for their routes
from service.web.api.blueprint import api
from service.web.api.figures import FIGURES
from service.web.api.openapi import register_docs
from service.web.edge.auth import AKISMET, API, HOOKS, PROGRAMS, identify_client, identify_site
from service.web.edge.coalescer import Coalescer
from service.web.edge.current import SERVICES, SUBMIT, WAITER
from service.web.edge.errors import register_errors
from service.web.edge.fields import IdConverter
from service.web.edge.headers import register_headers
from service.web.edge.health import Checks, Metrics, register_health, register_metrics
from service.web.edge.limits import register_limits
from service.web.edge.overload import refuse_in_overload
from service.web.edge.static_files import register_static
from service.web.edge.verdict_waiter import VerdictWaiter
from service.web.pages import register_pages
from service.web.pages.blueprint import error_page
from service.web.webhooks.server import identify_hook, register_webhooks

# For forms of the pages; API routes set their own limits.
_MAX_FORM_BYTES = 64 * 1024


class _PageSessions(SecureCookieSessionInterface):
    """Sessions for pages. Responses to programs do not set or vary by a cookie."""

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if request.blueprint not in PROGRAMS:
            super().save_session(app, session, response)


def create_app(
    services: Services, config: Mapping[str, Any], checks: Checks, metrics: Metrics = bytes
) -> Flask:
    """Return the Flask application for the API, its documentation, pages, health and metrics.

    `config` has `SECRET_KEY`, and what overrides the defaults in `_configure`.
    """
    app = Flask(__package__, static_folder=None)
    _configure(app, config)
    register_headers(app, services.observer)
    register_errors(app, error_page)
    identify = {API: identify_site, AKISMET: identify_akismet, HOOKS: identify_hook}
    app.before_request(lambda: identify_client(identify))
    app.before_request(refuse_in_overload)
    register_limits(app)
    register_health(app, checks)
    register_metrics(app, metrics)
    app.extensions[SERVICES] = services
    app.extensions[FIGURES] = FiguresCache(services)
    app.extensions[SUBMIT] = Coalescer(partial(submit_comments, services=services))
    app.extensions[WAITER] = VerdictWaiter(
        services.cases.find_judged, max_waiting=app.config["MAX_WAITING"]
    )
    app.register_blueprint(api)
    register_docs(app)
    register_pages(app)
    register_akismet(app)
    register_webhooks(app)
    register_static(app)
    return app


def _configure(app: Flask, config: Mapping[str, Any]) -> None:
    app.config.from_mapping(
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        MAX_CONTENT_LENGTH=_MAX_FORM_BYTES,
        MAX_FORM_MEMORY_SIZE=_MAX_FORM_BYTES,
        PROVIDE_AUTOMATIC_OPTIONS=False,
        FAILURES_PER_MINUTE=30,  # wrong keys or tokens of an address
        KEEP_HELD_SPAM_DAYS=30,  # 0 keeps it
        MAX_WAIT_SECONDS=20.0,
        # Requests that may wait for verdicts at once, so that some threads of the server stay free.
        MAX_WAITING=24,
        METRICS_TOKEN=None,  # without one only this machine can read `/metrics`
        RATELIMIT_STORAGE_URI="memory://",
        REQUESTS_PER_MINUTE=6000,
        REQUIRE_SECOND_FACTOR=False,
        RETRAIN_DATA=(),
        TRUSTED_PROXIES=0,  # whose `X-Forwarded-*` headers are trusted
    )
    app.config.from_mapping(config)
    app.session_interface = _PageSessions()
    # Merging slashes would redirect a POST.
    app.url_map.merge_slashes = False
    app.url_map.converters["id"] = IdConverter
    if hops := app.config["TRUSTED_PROXIES"]:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]  # the documented way to wrap it
            app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops
        )
