"""Answers whether the process is up, and which part that it needs is not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from flask import Flask, Response

from service.domain.finding import Finding, fail
from service.web.edge.answers import Answer, LiveAnswer, ReadyAnswer
from service.web.edge.auth import open_to_all

log = logging.getLogger(__name__)

OK = "ok"
_ELSE = "slopsieve doctor examines everything and says what to do."


Checks = Mapping[str, Callable[[], Finding]]
"""By part: finds it well, or says what is wrong and what to do, both free of secrets."""


def register_health(app: Flask, checks: Checks) -> None:
    """Serve `/livez` and `/readyz`, which need no key."""

    @open_to_all
    def livez() -> Response:
        return _respond(LiveAnswer(status="alive"), 200)

    @open_to_all
    def readyz() -> Response:
        asked = {name: _ask(name, check) for name, check in checks.items()}
        answer = ReadyAnswer(
            ready=all(found.is_well for found in asked.values()),
            parts={name: OK if found.is_well else found.says for name, found in asked.items()},
            remedies={name: found.remedy for name, found in asked.items() if not found.is_well},
        )
        return _respond(answer, 200 if answer.ready else 503)

    app.add_url_rule("/livez", view_func=livez, provide_automatic_options=False)
    app.add_url_rule("/readyz", view_func=readyz, provide_automatic_options=False)


def _ask(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # noqa: BLE001  # a check that fails says that its part is away
        # The message stays out of the answer: it may hold a URL with a password.
        log.warning("a check failed", extra={"part": name, "error": type(error).__name__})
        return fail(name, f"the check failed ({type(error).__name__})", _ELSE)


def _respond(answer: Answer, status: int) -> Response:
    return Response(answer.model_dump_json(), status=status, content_type="application/json")
