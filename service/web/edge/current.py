"""Proxies for the current app's services, like Flask's `current_app`."""

from collections.abc import Callable

from flask import current_app
from werkzeug.local import LocalProxy

from service.ports.comments import Added, NewComment
from service.ports.services import Services
from service.web.edge.verdict_waiter import VerdictWaiter

SERVICES = "slopsieve"
SUBMIT = "slopsieve_submit"
WAITER = "slopsieve_waiter"
"""The names of the app extensions behind `services`, `submit` and `waiter`."""

services: Services = LocalProxy(lambda: current_app.extensions[SERVICES])  # type: ignore[assignment]  # like current_app
"""The current app's services. Only usable during a request."""
submit: Callable[[NewComment], Added] = LocalProxy(lambda: current_app.extensions[SUBMIT])
"""Stores a comment and queues it, in one batch with other comments of the moment."""
waiter: VerdictWaiter = LocalProxy(lambda: current_app.extensions[WAITER])  # type: ignore[assignment]  # like current_app
