"""A platform's webhook that comes in: which site it speaks for and how it proves itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.comment import SiteId


class Platform(StrEnum):
    """The senders of webhooks that have an adapter."""

    CORAL = "coral"
    DISCOURSE = "discourse"
    GITHUB = "github"
    STANDARD = "standard"
    STATIC_FORM = "static-form"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundHook:
    """One address that a platform posts to. `secret` signs; it must be kept to check signatures."""

    id: str
    site_id: SiteId
    platform: Platform
    secret: str = field(repr=False)
    created_at: datetime
    revoked_at: datetime | None = None
