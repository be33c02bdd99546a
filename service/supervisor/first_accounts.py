"""Makes the first site and the first moderator of a new installation."""

from __future__ import annotations

from service.data_folder import DataFolder, write_private
from service.domain.errors import ConflictError
from service.moderation.admin.accounts import add_user
from service.moderation.admin.sites import add_site
from service.ports.services import Services
from service.supervisor.report import FirstRun, secrets_as_text

FIRST_SITE = "My site"
FIRST_MODERATOR = "moderator"
_ACTOR = "first start"


def make_first_accounts(services: Services) -> FirstRun:
    """Add a site if there is none and a moderator if there is none; return what was added."""
    site_id, site_key = _first_site(services)
    moderator, password = _first_moderator(services)
    return FirstRun(site_id=site_id, site_key=site_key, moderator=moderator, password=password)


def _first_site(services: Services) -> tuple[str | None, str | None]:
    if services.sites.all():
        return None, None
    try:
        site, issued = add_site(FIRST_SITE, services, actor=_ACTOR)
    except ConflictError:
        # Another machine on the same database was a moment faster.
        return None, None
    return site.id, issued.secret


def _first_moderator(services: Services) -> tuple[str | None, str | None]:
    if services.users.all():
        return None, None
    try:
        user, password = add_user(FIRST_MODERATOR, services, actor=_ACTOR)
    except ConflictError:
        return None, None
    return user.name, password


def keep_first_run(first: FirstRun, folder: DataFolder, services: Services) -> None:
    """Keep what was made now where its owner alone reads it, as a screen's lines scroll away.

    Deletes what an earlier start kept as soon as the first moderator has a password of their own.
    """
    if made := secrets_as_text(first):
        write_private(folder.first_run_file, f"{made}\n", replace=True)
    elif not any(
        user.name == FIRST_MODERATOR and user.must_change_password for user in services.users.all()
    ):
        folder.first_run_file.unlink(missing_ok=True)
