"""Makes the first site and the first moderator of a new installation."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.domain.errors import ConflictError
from service.moderation.admin.sites import add_site
from service.moderation.admin.users import add_user
from service.ports.services import AccountsPorts, CommonPorts

FIRST_SITE = "My site"
FIRST_MODERATOR = "moderator"
_ACTOR = "first start"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRun:
    """What was made, with the secrets that are shown this once; None for what was there."""

    site_id: str | None = None
    site_key: str | None = field(default=None, repr=False)
    moderator: str | None = None
    password: str | None = field(default=None, repr=False)


def make_first_accounts(accounts: AccountsPorts, common: CommonPorts) -> FirstRun:
    """Add a site if there is none and a moderator if there is none; return what was added."""
    site_id, site_key = _first_site(common)
    moderator, password = _first_moderator(accounts, common)
    return FirstRun(site_id=site_id, site_key=site_key, moderator=moderator, password=password)


def _first_site(common: CommonPorts) -> tuple[str | None, str | None]:
    if common.sites.all():
        return None, None
    try:
        site, issued = add_site(FIRST_SITE, common, actor=_ACTOR)
    except ConflictError:
        # Another machine on the same database was a moment faster.
        return None, None
    return site.id, issued.secret


def _first_moderator(accounts: AccountsPorts, common: CommonPorts) -> tuple[str | None, str | None]:
    if accounts.users.all():
        return None, None
    try:
        user, password = add_user(FIRST_MODERATOR, accounts, common, actor=_ACTOR)
    except ConflictError:
        return None, None
    return user.name, password
