"""Common template filters: times, names of sites, targets of links."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import idna
from flask import g

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.site import Site
from service.signals.hosts import SCHEME
from service.signals.links import Link
from service.signals.text import LATIN_LETTER, LOOK_ALIKES, OTHER_LETTER
from service.web.edge.current import services
from service.web.edge.language import N_, day_in_words, gettext, ngettext
from service.web.pages.blueprint import moderator, pages
from service.web.pages.marking import Piece, part_text

MAX_SHOWN = 12
_MAX_REST_CHARS = 120
_CODED = "xn--"
# The palochka looks like an l in most fonts.
_LOOKS_LATIN = LOOK_ALIKES | {"\u04cf"}
_AUTHORITY_END = re.compile(r"[/?#\\\s]|\Z")


@pages.app_template_filter()
def exactly(moment: datetime) -> str:
    """Return a time in UTC, to the second."""
    moment = moment.astimezone(UTC)
    return gettext("%(day)s, %(time)s UTC", day=day_in_words(moment), time=f"{moment:%H:%M:%S}")


@pages.app_template_filter()
def ago(moment: datetime) -> str:
    """Return how long ago a time was, or its day after two weeks."""
    past = services.clock() - moment
    if past < timedelta(minutes=1):
        return gettext("just now")
    if past < timedelta(hours=1):
        return gettext("%(n)s min ago", n=past // timedelta(minutes=1))
    if past < timedelta(days=1):
        return gettext("%(n)s h ago", n=past // timedelta(hours=1))
    if past < timedelta(days=2):
        return gettext("yesterday")
    if past < timedelta(days=14):
        return ngettext("%(num)s day ago", "%(num)s days ago", past.days)
    return day_in_words(moment, N_("d MMM y"))


@pages.app_template_filter()
def time_left(at: datetime) -> str:
    """Return how long it is until a time."""
    wait = at - services.clock()
    if wait <= timedelta(0):
        return gettext("now")
    if wait < timedelta(minutes=1):
        return gettext("within a minute")
    if wait < timedelta(hours=1):
        return gettext("in %(n)s min", n=wait // timedelta(minutes=1))
    return gettext("in %(n)s h", n=wait // timedelta(hours=1))


def all_sites() -> dict[SiteId, Site]:
    """Return all sites by id, read once a request."""
    if "sites" not in g:
        g.sites = {site.id: site for site in services.sites.all()}
    found: dict[SiteId, Site] = g.sites
    return found


def seen_sites() -> list[Site]:
    return [site for site in all_sites().values() if moderator().sees(site.id)]


@pages.app_template_filter()
def site_name(site_id: SiteId) -> str:
    """Return a site's name, or its id if the site was deleted."""
    site = all_sites().get(site_id)
    return site.name if site else site_id


def seen_ids(cases: Iterable[Case]) -> set[str]:
    """Return the ids of the comments whose sites the signed-in user sees."""
    return {case.comment.id for case in cases if moderator().sees(case.comment.site_id)}


@pages.app_template_filter()
def parted(text: str | Sequence[Piece] | None) -> Sequence[Piece]:
    """Split a text into pieces; return pieces unchanged."""
    return part_text(text) if isinstance(text, str) else text or ()


@pages.app_template_filter("targets")
def different_links(links: Sequence[Link]) -> tuple[list[tuple[Link, int]], int]:
    """Return the first link to each target with its count, and how many targets are omitted."""
    times = Counter((link.target, link.anchor) for link in links)
    seen = {(link.target, link.anchor): link for link in reversed(links)}
    first = sorted(seen.values(), key=lambda link: link.start)[:MAX_SHOWN]
    shown = [(link, times[link.target, link.anchor]) for link in first]
    return shown, len(seen) - len(shown)


@pages.app_template_filter()
def target_parts(link: Link) -> tuple[str, str, str]:
    """Return a target's subdomain, its registered domain, and the rest."""
    domain = link.domain if link.host.endswith(link.domain) else link.host
    lower, at = link.target.lower(), -1
    if len(lower) == len(link.target):
        scheme = SCHEME.match(lower)
        start = scheme.end() if scheme else 0
        end = _AUTHORITY_END.search(lower, start)
        # Omit a user name and password, which mislead readers.
        after_name = lower.rfind("@", start, end.start() if end else len(lower)) + 1
        at = lower.find(link.host, after_name or start)
    rest = link.target[at + len(link.host) :] if at >= 0 else ""
    return link.host.removesuffix(domain), domain, rest[:_MAX_REST_CHARS]


@pages.app_template_filter()
def spell_otherwise(host: str) -> tuple[str, str]:
    """Return a host in Punycode (RFC 3492) or decoded, and a hint; empty for plain letters."""
    if host.isascii() and _CODED not in host:
        return "", ""
    letters = ".".join(_decoded(label) for label in host.split("."))
    other = letters if host.isascii() else _encoded(host)
    foreign = OTHER_LETTER.findall(letters)
    if foreign and _LOOKS_LATIN.issuperset(foreign):
        return other, gettext("letters that only look Latin: it may pose as another name")
    if foreign and LATIN_LETTER.search(letters.rpartition(".")[0]):
        return other, gettext("letters of several alphabets: it may pose as another name")
    return other, gettext("letters beyond a to z")


def _decoded(label: str) -> str:
    # The longest label of RFC 1035.
    if not label.startswith(_CODED) or len(label) > 63:
        return label
    try:
        return label.removeprefix(_CODED).encode("ascii").decode("punycode")
    except UnicodeError:
        return label


def _encoded(host: str) -> str:
    try:
        return str(idna.encode(host, uts46=True).decode())
    except (idna.IDNAError, UnicodeError):
        return ".".join(
            label if label.isascii() else _CODED + label.encode("punycode", "replace").decode()
            for label in host.split(".")
        )
