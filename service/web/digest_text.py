"""Text of the daily digest."""

from service.domain.figures import Waiting
from service.domain.user import DigestPlan, HeldSpam, Written
from service.web.edge.language import day_in_words, gettext, ngettext, number, speaking


def write_digest(waiting: Waiting, held: HeldSpam, plan: DigestPlan, language: str) -> Written:
    """Return a digest in this language, or in English if it is not available."""
    with speaking(language):
        waits = ngettext(
            "one comment waits for a moderator",
            "%(number)s comments wait for a moderator",
            waiting.number,
            number=number(waiting.number),
        )
        spam = gettext(
            "%(number)s held as spam, %(doubtful)s of them doubtful",
            number=number(held.number),
            doubtful=number(held.doubtful),
        )
        parts = []
        if waiting.number:
            parts.append((_since(waits, waiting, plan), "/review"))
        if held.number:
            parts.append((f"{spam}.", "/review?show=held-as-spam"))
        lines: list[str] = []
        for says, path in parts:
            lines += [says, f"{plan.pages_url}{path}"] if plan.pages_url else [says]
        lines.append(
            gettext("You get this once a day. Change the address on the page Your account.")
        )
        subject = gettext("Slopsieve: %(what)s", what=waits if waiting.number else spam)
        return Written(subject=subject, text="\n\n".join(lines) + "\n")


def _since(waits: str, waiting: Waiting, plan: DigestPlan) -> str:
    if waiting.oldest is None:
        return waits
    oldest = waiting.oldest.astimezone(plan.zone)
    return gettext(
        "%(what)s, the oldest since %(day)s, %(time)s.",
        what=waits[:1].upper() + waits[1:],
        day=day_in_words(oldest),
        time=f"{oldest:%H:%M}",
    )
