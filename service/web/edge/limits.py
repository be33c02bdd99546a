"""Rate limits for keys, for wrong keys by address, and for public forms.

`pages/login.py` has separate limits for passwords and codes.
"""

import hashlib
import hmac
import math
import time
from typing import Any

from flask import Flask, current_app, g, request
from flask_limiter import ApplicationLimit, Limiter
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.sender import one_client
from service.web.edge.auth import AKISMET, API, HOOKS, METRICS, PUBLIC, has_site, may_read_metrics
from service.web.edge.current import services

# A busy post of a static site gets a comment a second; a person sends a few in a minute.
_FORMS_PER_MINUTE = 120
_FORMS_PER_ADDRESS_AND_MINUTE = 10
# A visitor who focuses a form requests a token, also without sending it.
_TOKENS_PER_MINUTE = 600
_TOKENS_PER_ADDRESS_AND_MINUTE = 60
_TOKEN, _STATEMENT, _APPEAL = (
    f"{PUBLIC}.{name}" for name in ("get_form_token", "statement", "appeal")
)
_UNLIMITED_PATHS = ("/livez", "/readyz")
_FAILURES = (401, 403)
_WINDOW_SECONDS = 60
# If the storage fails, requests are counted in memory, and single requests try the storage again
# at growing intervals. They must not wait long.
_STORAGE_OPTIONS: dict[str, Any] = {
    "socket_connect_timeout": 0.25,
    "socket_timeout": 0.25,
    "retry": Retry(NoBackoff(), 0),
}


def register_limits(app: Flask) -> None:
    """Respond with 429 and `Retry-After` to a client over a limit. Health has no limit."""
    limiter = Limiter(
        key_func=hashed_address,
        application_limits=[
            ApplicationLimit(
                f"{app.config['REQUESTS_PER_MINUTE']}/minute",
                key_function=lambda: g.get("client") or hashed_address(),
                scope="calls",
            ),
            ApplicationLimit(
                f"{app.config['FAILURES_PER_MINUTE']}/minute",
                scope="failures",
                # A client with a valid key is not limited by failures from the same address.
                exempt_when=lambda: not _may_be_guessing(),
                deduct_when=lambda response: (
                    # The status of Akismet's response to a wrong key is 200.
                    response.status_code in _FAILURES or "wrong_key" in g
                ),
            ),
            ApplicationLimit(
                f"{_FORMS_PER_MINUTE}/minute",
                key_function=lambda: f"form:{g.open_form}",
                scope="forms",
                exempt_when=lambda: not _brings_a_comment(),
            ),
            ApplicationLimit(
                f"{_FORMS_PER_ADDRESS_AND_MINUTE}/minute",
                scope="forms of one sender",
                exempt_when=lambda: not _brings_a_comment() and request.endpoint != _APPEAL,
            ),
            ApplicationLimit(
                f"{_TOKENS_PER_MINUTE}/minute",
                key_function=lambda: f"token:{(request.view_args or {}).get('hook_id', '')[:64]}",
                scope="tokens",
                exempt_when=lambda: request.endpoint != _TOKEN,
            ),
            ApplicationLimit(
                f"{_TOKENS_PER_ADDRESS_AND_MINUTE}/minute",
                scope="tokens of one sender",
                exempt_when=lambda: request.endpoint not in (_TOKEN, _STATEMENT),
            ),
        ],
        storage_options=_STORAGE_OPTIONS,
        in_memory_fallback_enabled=True,
        # If two requests meet a failing storage at once, the second is not counted.
        swallow_errors=True,
        key_prefix="slopsieve",
    )
    limiter.request_filter(lambda: request.path in _UNLIMITED_PATHS)
    limiter.init_app(app)


def limiter_of(app: Flask) -> Limiter:
    limiter: Limiter = next(iter(app.extensions["limiter"]))
    return limiter


def seconds_to_wait() -> int:
    """Return the seconds until the exceeded limit allows the next request."""
    breached = limiter_of(current_app).current_limit
    if breached is None:
        return _WINDOW_SECONDS
    left = math.ceil(breached.reset_at - time.time())
    return min(max(1, left), breached.limit.get_expiry())


def _may_be_guessing() -> bool:
    """Return True unless the request has a valid key or needs none."""
    if request.blueprint == API:
        return not has_site()
    if request.blueprint == HOOKS:
        return not has_site() and "open_form" not in g
    if request.blueprint == AKISMET:
        return "wrong_key" in g
    return request.path == METRICS and not may_read_metrics()


def _brings_a_comment() -> bool:
    """Return True if the request is a static site's form, and no CORS preflight."""
    return "open_form" in g and request.method != "OPTIONS"


def hashed_address() -> str:
    """Return a keyed hash of the client's address, safe for the log."""
    address = one_client(request.remote_addr or "unknown").encode()
    return hmac.new(services.sender_secret, b"limit:" + address, hashlib.sha256).hexdigest()[:32]
