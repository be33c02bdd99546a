"""What a decision changes at a platform."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from service.domain.comment import SiteId

_VERSION = re.compile(r"@[0-9]+\Z")


class Act(StrEnum):
    """What a platform is asked to do: take a comment out of sight, undo that, or build a site."""

    HIDE = "hide"
    RESTORE = "restore"
    BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformAct:
    """One act on one comment, by its own id at the platform.

    `asked_before` says that it was asked to hide the comment without a clear answer.
    """

    act: Act
    comment_id: str
    asked_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A comment that was hidden at its platform by Slopsieve, `site_comment_id` without a version.

    Not `certain` is one that it was asked to hide without a clear answer.
    """

    site_id: SiteId
    site_comment_id: str
    certain: bool = False


def versioned(site_comment_id: str, number: int) -> str:
    """Return the id under which a version of a site's comment is kept; the first is number 1."""
    return site_comment_id if number == 1 else f"{site_comment_id}@{number}"


def unversioned(site_comment_id: str) -> str:
    """Return the id of a comment at its site, whichever of its versions this names."""
    return _VERSION.sub("", site_comment_id)


def platform_of(site_comment_id: str | None) -> tuple[str | None, str | None]:
    """Return the platform's name and its own id of a comment, without the number of its version."""
    if site_comment_id is None:
        return None, None
    own = unversioned(site_comment_id)
    platform, separator, platform_id = own.partition(":")
    return (platform, platform_id) if separator else (None, own)
