"""Spells out what campaigns advertise, for pages: words, never links."""

from __future__ import annotations

from service.campaigns.targets import HANDLE, MAIL, NAME, PHONE, SITE
from service.web.edge.language import gettext, noted
from service.web.pages.common.pages import pages

_KINDS = {
    # A host says by itself that it is a site.
    SITE: "",
    MAIL: noted("E-mail"),
    PHONE: noted("Telephone"),
    HANDLE: noted("Messenger"),
    # What is sold, as far as its name could be made out.
    NAME: noted("Name"),
}


@pages.app_template_filter()
def spell_target(target: str) -> tuple[str, str]:
    """Return what kind of target it is, empty for a site, and the target spelled out."""
    kind, _, spelled = target.partition(":")
    if kind not in _KINDS:
        return "", target
    name = _KINDS[kind]
    return gettext(name) if name else "", spelled
