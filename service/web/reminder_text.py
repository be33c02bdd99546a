"""Writes what moderators are reminded of, in their language, as plain text and as simple HTML."""

from __future__ import annotations

from datetime import timedelta

from markupsafe import Markup

from service.domain.reminder import Threshold, WaitingFacts, Written
from service.web.edge.language import gettext, ngettext, number, speaking

_HOUR = timedelta(hours=1)


def write_reminder(facts: WaitingFacts, language: str) -> Written:
    """Return a reminder in this language; in English if there are no texts in it."""
    with speaking(language):
        lines = _lines(facts)
        return Written(
            subject=_subject(facts),
            text="\n\n".join(_as_text(lines, facts)) + "\n",
            html=_as_html(lines, facts, language),
        )


def _subject(facts: WaitingFacts) -> str:
    if facts.is_test:
        return gettext("Slopsieve: a test")
    return gettext("Slopsieve: %(what)s", what=_waits(facts.number))


def _waits(n: int) -> str:
    return ngettext(
        "one comment waits for a moderator",
        "%(number)s comments wait for a moderator",
        n,
        number=number(n),
    )


def _lines(facts: WaitingFacts) -> list[str]:
    """Return the sentences that stand at the beginning."""
    lines = []
    if facts.is_test:
        lines.append(gettext("This is a test: reminders arrive here."))
    lines += [_crossed(threshold, n) for threshold, n in facts.crossed]
    waits = _waits(facts.number)
    lines.append(gettext("In all, %(what)s.", what=waits))
    return lines


def _crossed(threshold: Threshold, n: int) -> str:
    hours = threshold.longer_than // _HOUR
    since = ngettext("longer than one hour", "longer than %(num)s hours", hours)
    return ngettext(
        "One comment has waited %(since)s.",
        "%(number)s comments have waited %(since)s.",
        n,
        number=number(n),
        since=since,
    )


def _as_text(lines: list[str], facts: WaitingFacts) -> list[str]:
    parts = ["\n".join(lines)]
    if facts.sites:
        parts.append("\n".join(f"{one.name}: {number(one.number)}" for one in facts.sites))
    if facts.quotes:
        parts.append("\n".join(f"> {quote}" for quote in facts.quotes))
    if facts.pages_url:
        parts.append(f"{facts.pages_url}/review")
    parts.append(_why())
    return parts


def _as_html(lines: list[str], facts: WaitingFacts, language: str) -> str:
    """Return the same as a page without style sheet, picture or script; all in it is escaped."""
    break_ = Markup("<br>")
    parts = [Markup("<p>{}</p>").format(break_.join(lines))]
    if facts.sites:
        rows = (
            Markup("<tr><td>{}</td><td>{}</td></tr>").format(one.name, number(one.number))
            for one in facts.sites
        )
        parts.append(Markup("<table>{}</table>").format(Markup("").join(rows)))
    parts += [Markup("<blockquote>{}</blockquote>").format(quote) for quote in facts.quotes]
    if facts.pages_url:
        link = Markup('<p><a href="{}/review">{}</a></p>')
        parts.append(link.format(facts.pages_url, gettext("Go to the comments")))
    parts.append(Markup("<p><small>{}</small></p>").format(_why()))
    body = Markup("\n").join(parts)
    page = Markup('<!doctype html>\n<html lang="{}" dir="auto"><body>\n{}\n</body></html>\n')
    return str(page.format(language, body))


def _why() -> str:
    return gettext("You get this once, until fewer wait. Change it on the page Reminders.")
