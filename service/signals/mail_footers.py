"""Finds what mail programs and forums put below the words of a reply that came by mail."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.signals.contacts import find_contacts
from service.signals.links import find_links
from service.signals.words import find_words

# Lines that platforms and mail programs write themselves.
_FOOTER = re.compile(
    r"(?:[—–-]{1,2}\s*)?(?:reply to this e-?mail directly"
    r"|you(?: a|['’])re receiving this (?:because|e-?mail)|message-? ?id:"
    r"|triage notifications on the go|visit topic"
    r"|to unsubscribe|unsubscribe from|previous replies|sent from (?:my|outlook|mail|yahoo)"
    r"|sent (?:via|with) |get outlook for|von meinem \w+ gesendet|gesendet (?:mit|von) "
    r"|envoyé (?:de|depuis) mon|enviado (?:desde|do) (?:mi|meu)|inviato da|verzonden vanaf"
    r"|wysłane z|skickat från|отправлено с |<?\*{3}@\*{3}\.\*{3}>?$|[—–]$)",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    r"(?:on|am|le|el|il|op|em|w dniu|den|dne|dňa)\s.{5,250}\s(?:wrote|schrieb|a écrit|escribió"
    r"|ha scritto|schreef|escreveu|napisał\w{0,2}(?:\(\w\))?|skrev|napsal\w?|napísal\w?)"
    r"(?:\s.{1,120})?\s?[:：]$"
    r"|.{0,250}\d.{0,250}(?:написал\w?(?:\(\w\))?|пише|写道|寫道|のメール|작성)\s?[:：]$",
    re.IGNORECASE,
)
_WRAPPED = re.compile(r"(?:on|am|le|el|il|op|em|w dniu|den)\s.{5,250}", re.IGNORECASE)
_SIGNATURE = "--"
_MOST_LINES = 400
_MAX_SIGNATURE_LINES, _MAX_SIGNATURE_CHARS = 6, 80
# Where the footers of GitHub lead.
_PLATFORMS = ("github.com", "apps.apple.com", "play.google.com")


def end_of_own_words(text: str, *, platform_host: str = "") -> int:
    """Return where a mail's footer, quoted mail or signature begins, else the text's length.

    A line with a link elsewhere, or a signature with a contact, is the writer's own: nothing
    that leads a reader away is cut. `platform_host` is where the comment stands.
    """
    lines = text.splitlines(keepends=True)
    hosts = (*_PLATFORMS, platform_host) if platform_host else _PLATFORMS
    first = _first_of_trailer([line.strip() for line in lines], hosts)
    kept = "".join(lines[:first])
    return len(kept.rstrip()) if first < len(lines) and kept.strip() else len(text)


def _first_of_trailer(lines: Sequence[str], hosts: Sequence[str]) -> int:
    """Return the first line of the last lines that are all of a mail's own making."""
    first, at, loose = len(lines), len(lines), 0
    while at > max(0, len(lines) - _MOST_LINES):
        at -= 1
        line = lines[at]
        bare = line.lstrip("> \t")
        links = find_links(line)
        if any(not _is_at(link.host, hosts) for link in links):
            break
        wrapped = at > 0 and _WRAPPED.match(lines[at - 1].lstrip("> \t"))
        whole = f"{lines[at - 1]} {bare}" if wrapped else bare
        if line == _SIGNATURE:
            first, loose = at, 0
        elif not loose and _ATTRIBUTION.match(bare):
            first = at
        elif not loose and wrapped and _ATTRIBUTION.match(whole.lstrip("> \t")):
            first = at = at - 1
        elif not loose and _FOOTER.match(bare) and not _leads_away(bare):
            first = at
        elif bare and not line.startswith(">") and not (links and len(bare.split()) <= 4):
            loose += 1
            if loose > _MAX_SIGNATURE_LINES or len(bare) > _MAX_SIGNATURE_CHARS:
                break
            if _leads_away(bare):
                break
    return first


def _leads_away(line: str) -> bool:
    words = frozenset(word.text for word in find_words(line.lower()))
    return "***@***" not in line and bool(find_contacts(line, words))


def _is_at(host: str, hosts: Sequence[str]) -> bool:
    return any(host == one or host.endswith(f".{one}") for one in hosts)
