"""What views find by the app that answers, as Flask's `current_app`."""

from __future__ import annotations

from flask import current_app
from werkzeug.local import LocalProxy

from service.ports.services import Services

SERVICES = "slopsieve"
"""Under which extension of an app its services are kept."""

services: Services = LocalProxy(lambda: current_app.extensions[SERVICES])  # type: ignore[assignment]  # like current_app
"""The services of the app that answers; what goes on after a request is given ports themselves."""
