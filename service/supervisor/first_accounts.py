"""Makes the first site and the first moderator of a new installation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

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
    made = FirstRun()
    # Another machine on the same database may be a moment faster.
    if not services.sites.all():
        with suppress(ConflictError):
            site, issued = add_site(FIRST_SITE, services, actor=_ACTOR)
            made = replace(made, site_id=site.id, site_key=issued.secret)
    if not services.users.all():
        with suppress(ConflictError):
            user, password = add_user(FIRST_MODERATOR, services, actor=_ACTOR)
            made = replace(made, moderator=user.name, password=password)
    return made


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
