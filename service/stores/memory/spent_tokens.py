"""Remembers in memory which tokens of comment forms were used."""

from __future__ import annotations

import threading

from service.domain.comment import SiteId


class MemorySpentTokens:
    """Keeps them as long as the process lives; see `SpentTokens`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[str, str] = {}
        self._sites: set[SiteId] = set()

    def spend(self, token_id: str, *, use: str, site_id: SiteId) -> bool:
        """See `SpentTokens.spend`."""
        with self._lock:
            self._sites.add(site_id)
            return self._uses.setdefault(token_id, use) == use

    def are_used_by(self, site_id: SiteId) -> bool:
        """See `SpentTokens.are_used_by`."""
        with self._lock:
            return site_id in self._sites
