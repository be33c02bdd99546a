"""Answers whether the process is up, and which part that it needs is not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from flask import Flask, Response

from service.web.answers import Answer, LiveAnswer, ReadyAnswer
from service.web.auth import open_to_all

log = logging.getLogger(__name__)

Checks = Mapping[str, Callable[[], str | None]]
"""By part: returns None if it is there, otherwise one line, free of secrets, on what is wrong."""


_REMEDIES: Mapping[str, str] = {
    "database": "See that the database runs and its disk has room; slopsieve doctor says more.",
    "queue": "See that Valkey runs and has memory; comments are kept meanwhile and judged later.",
    "worker": "Start a worker; comments are kept meanwhile and judged later.",
    "model": "slopsieve models list, slopsieve models promote VERSION; all is unsure meanwhile.",
    "callbacks": "Start the callbacks process; what sites are to be told is kept meanwhile.",
}
_ELSE = "slopsieve doctor examines everything and says what to do."


def _remedy(part: str) -> str:
    return _REMEDIES.get(part, _ELSE)


def register_health(app: Flask, checks: Checks) -> None:
    """Serve `/livez` and `/readyz`, which need no key."""

    @open_to_all
    def livez() -> Response:
        return _respond(LiveAnswer(status="alive"), 200)

    @open_to_all
    def readyz() -> Response:
        parts = {name: _ask(name, check) for name, check in checks.items()}
        ready = all(state == "ok" for state in parts.values())
        remedies = {name: _remedy(name) for name, state in parts.items() if state != "ok"}
        answer = ReadyAnswer(ready=ready, parts=parts, remedies=remedies)
        return _respond(answer, 200 if ready else 503)

    app.add_url_rule("/livez", view_func=livez, provide_automatic_options=False)
    app.add_url_rule("/readyz", view_func=readyz, provide_automatic_options=False)


def _ask(name: str, check: Callable[[], str | None]) -> str:
    try:
        return check() or "ok"
    except Exception as error:  # noqa: BLE001  # a check that fails says that its part is away
        # The message stays out of the answer: it may hold a URL with a password.
        log.warning("a check failed", extra={"part": name, "error": type(error).__name__})
        return f"the check failed ({type(error).__name__})"


def _respond(answer: Answer, status: int) -> Response:
    return Response(answer.model_dump_json(), status=status, content_type="application/json")
