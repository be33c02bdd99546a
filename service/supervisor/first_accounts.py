"""Makes the first site and the first moderator of a new installation."""

from __future__ import annotations

from service.data_folder import DataFolder, write_private
from service.domain.errors import ConflictError
from service.moderation.admin.sites import add_site
from service.moderation.admin.users import add_user
from service.ports.services import AccountsPorts, CommonPorts
from service.supervisor.report import FirstRun, secrets_as_text

FIRST_SITE = "My site"
FIRST_MODERATOR = "moderator"
_ACTOR = "first start"


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


def keep_first_run(first: FirstRun, folder: DataFolder, accounts: AccountsPorts) -> None:
    """Keep what was made now where its owner alone reads it, as a screen's lines scroll away.

    Deletes what an earlier start kept as soon as the first moderator has a password of their own.
    """
    if made := secrets_as_text(first):
        write_private(folder.first_run_file, f"{made}\n", replace=True)
    elif not any(
        user.name == FIRST_MODERATOR and user.must_change_password for user in accounts.users.all()
    ):
        folder.first_run_file.unlink(missing_ok=True)
