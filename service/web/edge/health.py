"""Answers whether the process is up, and which part that it needs is not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from flask import Flask

from service.domain.finding import Finding, fail
from service.web.edge.answers import LiveAnswer, ReadyAnswer
from service.web.edge.auth import open_to_all
from service.web.edge.operation import operation

log = logging.getLogger(__name__)

OK = "ok"
HEALTH = "Health"
"""The tag of operations that nobody is refused."""
_ELSE = "slopsieve doctor examines everything and says what to do."


Checks = Mapping[str, Callable[[], Finding]]
"""By part: finds it well, or says what is wrong and what to do, both free of secrets."""


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
            parts={name: OK if found.is_well else found.says for name, found in asked.items()},
            remedies={name: found.remedy for name, found in asked.items() if not found.is_well},
        )
        return answer, 200 if answer.ready else 503


def _ask(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # a check that fails says that its part is away
        # The message stays out of the answer: it may hold a URL with a password.
        log.warning("a check failed", extra={"part": name}, exc_info=error)
        return fail(name, f"the check failed ({type(error).__name__})", _ELSE)
