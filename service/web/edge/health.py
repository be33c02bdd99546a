"""Serves what an operator polls: whether the process is up, which part is not, metrics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from flask import Flask, Response
from pydantic import Field

from service.domain.finding import Finding, fail
from service.web.edge.auth import METRICS, may_read_metrics, open_to_all
from service.web.edge.errors import Answer
from service.web.edge.operation import operation

log = logging.getLogger(__name__)

HEALTH = "Health"
"""The tag of operations that nobody is refused."""

Checks = Mapping[str, Callable[[], Finding]]
"""By part: finds it well, or says what is wrong and what to do, both free of secrets."""


class LiveAnswer(Answer):
    """The process answers."""

    status: str = Field(examples=["alive"])


class ReadyAnswer(Answer):
    """Whether each part that the service needs is there."""

    ready: bool
    parts: dict[str, str] = Field(
        description="By part: `ok`, or what is wrong with it.",
        examples=[{"database": "ok", "queue": "ok"}],
    )
    remedies: dict[str, str] = Field(
        description="By part that is not `ok`: what to do about it.",
        examples=[{}],
    )


def register_health(app: Flask, checks: Checks) -> None:
    """Serve `/livez` and `/readyz`, which need no key."""

    @app.get("/livez")
    @open_to_all
    @operation(tag=HEALTH)
    def livez() -> LiveAnswer:
        """Is the process up?"""
        return LiveAnswer(status="alive")

    @app.get("/readyz")
    @open_to_all
    @operation(tag=HEALTH, statuses=(200, 503))
    def readyz() -> tuple[ReadyAnswer, int]:
        """Is every part there?

        If one is not, the status is 503, and `parts` names it.
        """
        asked = {name: _ask(name, check) for name, check in checks.items()}
        answer = ReadyAnswer(
            ready=all(found.is_well for found in asked.values()),
            parts={name: "ok" if found.is_well else found.says for name, found in asked.items()},
            remedies={name: found.remedy for name, found in asked.items() if not found.is_well},
        )
        return answer, 200 if answer.ready else 503


def _ask(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # a check that fails says that its part is away
        # The message stays out of the answer: it may hold a URL with a password.
        log.warning("a check failed", extra={"part": name}, exc_info=error)
        remedy = "slopsieve doctor examines everything and says what to do."
        return fail(name, f"the check failed ({type(error).__name__})", remedy)


Metrics = Callable[[], bytes]
"""Returns the text that a scrape is answered, cheaply however often it is asked."""

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def register_metrics(app: Flask, metrics: Metrics, *, token: str | None) -> None:
    """Serve `/metrics` to those who send the token, or, without one, to this machine alone."""

    @open_to_all
    def show_metrics() -> Response:
        if not may_read_metrics(token):
            refusal = "Without SLOPSIEVE_METRICS_TOKEN only the machine itself may read metrics.\n"
            if token is not None:
                refusal = "Send the token for metrics as Authorization: Bearer.\n"
            return Response(refusal, status=401, content_type="text/plain; charset=utf-8")
        return Response(metrics(), content_type=_CONTENT_TYPE)

    app.add_url_rule(METRICS, view_func=show_metrics, provide_automatic_options=False)
