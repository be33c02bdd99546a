"""What views find by the app that answers, as Flask's `current_app`."""

from __future__ import annotations

from collections.abc import Callable

from flask import current_app
from werkzeug.local import LocalProxy

from service.ports.comments import Added, NewComment
from service.ports.services import Services
from service.web.edge.verdict_waiter import VerdictWaiter

SERVICES = "slopsieve"
SUBMIT = "slopsieve_submit"
WAITER = "slopsieve_waiter"
"""Under which extensions of an app are its services, what keeps comments, who awaits verdicts."""

services: Services = LocalProxy(lambda: current_app.extensions[SERVICES])  # type: ignore[assignment]  # like current_app
"""The services of the app that answers; what goes on after a request is given ports themselves."""
submit: Callable[[NewComment], Added] = LocalProxy(lambda: current_app.extensions[SUBMIT])
"""Keeps a comment and queues it, with whatever else comes in at that moment."""
waiter: VerdictWaiter = LocalProxy(lambda: current_app.extensions[WAITER])  # type: ignore[assignment]  # like current_app
