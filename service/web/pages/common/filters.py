"""What templates make of values: a time as a person reads it, a text in pieces, a site's name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from flask import g

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.site import Site
from service.web.edge.current import services
from service.web.edge.language import day_in_words, gettext, ngettext, noted
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, pages

# How a day is written, in the letters of Unicode's date patterns (UTS 35).
_SHORT_DAY = noted("d MMM y")


@pages.app_template_filter()
def exactly(moment: datetime) -> str:
    """Return a moment to the second, in UTC."""
    moment = moment.astimezone(UTC)
    return gettext("%(day)s, %(time)s UTC", day=day_in_words(moment), time=f"{moment:%H:%M:%S}")


@pages.app_template_filter()
def ago(moment: datetime) -> str:
    """Return how long ago a moment was, its day if that is more than two weeks."""
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
    return day_in_words(moment, _SHORT_DAY)


@pages.app_template_filter()
def time_left(at: datetime) -> str:
    """Return how long it is until a moment."""
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
    """Return the sites that the signed-in user sees."""
    return [site for site in all_sites().values() if moderator().sees(site.id)]


@pages.app_template_filter()
def site_name(site_id: SiteId) -> str:
    """Return a site's name, or its id if the site is gone."""
    site = all_sites().get(site_id)
    return site.name if site else site_id


def seen_ids(cases: Iterable[Case]) -> set[str]:
    """Return the ids of the comments whose sites the signed-in user sees."""
    user = moderator()
    return {case.comment.id for case in cases if user.sees(case.comment.site_id)}


@pages.app_template_filter("parted")
def _part(text: str | Sequence[Piece] | None) -> Sequence[Piece]:
    """Return a text in pieces, and one that is in pieces as it is."""
    return part_text(text) if isinstance(text, str) else text or ()
