"""Tokens of comment forms: what signs them, and what remembers which were used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from service.domain.comment import SiteId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadToken:
    """A token that was signed here: when, for which page, and whether its challenge was solved."""

    id: str
    page: str | None
    issued_at: datetime
    solved: bool


class SpentTokens(Protocol):
    """Remembers for `TOKEN_LIFE` which tokens were used, and which sites' forms use any."""

    def spend(self, token_id: str, *, use: str, site_id: SiteId) -> bool:
        """Mark a token used; return True if it was unused or used for the same `use`.

        Of two that come at once for two uses, one is told so. Raises `StoreUnavailableError`.
        """

    def are_used_by(self, site_id: SiteId) -> bool:
        """Return True if a token of this site was used lately. Raise `StoreUnavailableError`."""
