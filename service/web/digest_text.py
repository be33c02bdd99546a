"""Writes the daily digest in its reader's language."""

from __future__ import annotations

from service.domain.backlog import Waiting
from service.domain.digest import DigestPlan, Written
from service.web.edge.language import day_in_words, gettext, ngettext, noted, number, speaking

_DAY = noted("d MMMM y")


def write_digest(waiting: Waiting, plan: DigestPlan, language: str) -> Written:
    """Return a digest in this language; in English if there are no texts in it."""
    with speaking(language):
        waits = ngettext(
            "one comment waits for a moderator",
            "%(number)s comments wait for a moderator",
            waiting.number,
            number=number(waiting.number),
        )
        lines = [_since(waits, waiting, plan)]
        if plan.pages_url:
            lines.append(f"{plan.pages_url}/review")
        lines.append(gettext("You get this once a day. Your account's page has the address."))
        return Written(
            subject=gettext("Slopsieve: %(what)s", what=waits), text="\n\n".join(lines) + "\n"
        )


def _since(waits: str, waiting: Waiting, plan: DigestPlan) -> str:
    if waiting.oldest is None:
        return waits
    oldest = waiting.oldest.astimezone(plan.zone)
    return gettext(
        "%(what)s, the oldest since %(day)s, %(time)s.",
        what=waits[:1].upper() + waits[1:],
        day=day_in_words(oldest, _DAY),
        time=f"{oldest:%H:%M}",
    )
