"""Serves liveness, readiness and metrics."""

import logging
from collections.abc import Callable, Mapping

from flask import Flask, Response, current_app
from pydantic import Field

from service.domain.finding import Finding, fail
from service.web.edge.auth import METRICS, may_read_metrics, open_to_all
from service.web.edge.errors import Answer
from service.web.edge.operation import operation

log = logging.getLogger(__name__)

HEALTH = "Health"
"""The tag of operations that need no key and have no rate limit."""

Checks = Mapping[str, Callable[[], Finding]]
"""A check by part. Its finding has the problem and the remedy, without secrets."""


class LiveAnswer(Answer):
    """The process is running."""

    status: str = Field(examples=["alive"])


class ReadyAnswer(Answer):
    """The state of every part that the service needs."""

    ready: bool
    parts: dict[str, str] = Field(
        description="By part: `ok`, or the problem.", examples=[{"database": "ok", "queue": "ok"}]
    )
    remedies: dict[str, str] = Field(
        description="By part that is not `ok`: what to do.", examples=[{}]
    )


def register_health(app: Flask, checks: Checks) -> None:
    """Serve `/livez` and `/readyz`, which need no key."""

    @app.get("/livez")
    @open_to_all
    @operation(tag=HEALTH)
    def livez() -> LiveAnswer:
        """Check that the process is running."""
        return LiveAnswer(status="alive")

    @app.get("/readyz")
    @open_to_all
    @operation(tag=HEALTH, statuses=(200, 503))
    def readyz() -> tuple[ReadyAnswer, int]:
        """Check every part of the service.

        If a part is not available, the status is 503 and `parts` has the problem.
        """
        asked = {name: _ask(name, check) for name, check in checks.items()}
        answer = ReadyAnswer(
            ready=all(found.is_ok for found in asked.values()),
            parts={name: "ok" if found.is_ok else found.says for name, found in asked.items()},
            remedies={name: found.remedy for name, found in asked.items() if not found.is_ok},
        )
        return answer, 200 if answer.ready else 503


def _ask(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # a failed check is a finding
        # The message is not sent, because it may contain a URL with a password.
        log.warning("a check failed", extra={"part": name}, exc_info=error)
        remedy = "slopsieve doctor examines everything and says what to do."
        return fail(name, f"the check failed ({type(error).__name__})", remedy)


Metrics = Callable[[], bytes]
"""Returns the metrics in Prometheus' text format. It is called at every scrape."""

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def register_metrics(app: Flask, metrics: Metrics) -> None:
    """Serve `/metrics` to clients with the token, or, if none is set, to this machine only."""

    @app.get(METRICS)
    @open_to_all
    def show_metrics() -> Response:
        if not may_read_metrics():
            refusal = "Without SLOPSIEVE_METRICS_TOKEN only the machine itself may read metrics.\n"
            if current_app.config["METRICS_TOKEN"] is not None:
                refusal = "Send the token for metrics as Authorization: Bearer.\n"
            return Response(refusal, status=401, content_type="text/plain; charset=utf-8")
        return Response(metrics(), content_type=_CONTENT_TYPE)
