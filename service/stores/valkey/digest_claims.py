"""Remembers in Valkey who was sent today's digest."""

from __future__ import annotations

from datetime import timedelta

from service.stores.valkey.client import ValkeyClient

_KEPT_SECONDS = int(timedelta(days=2).total_seconds())
_TIMEOUT_SECONDS = 1.0


class ValkeyDigestClaims:
    """Sets one key for each digest, which goes by itself; see `DigestClaims`."""

    def __init__(self, url: str, *, prefix: str = "slopsieve") -> None:
        self._client = ValkeyClient(
            url, cluster=False, timeout_seconds=_TIMEOUT_SECONDS, what="the note of digests"
        )
        self._prefix = f"{prefix}:digest"

    def claim(self, digest: str) -> bool:
        """See `DigestClaims.claim`."""
        key = f"{self._prefix}:{digest}"
        return bool(
            self._client.ask(lambda client: client.set(key, "1", nx=True, ex=_KEPT_SECONDS))
        )

    def release(self, digest: str) -> None:
        """See `DigestClaims.release`."""
        key = f"{self._prefix}:{digest}"
        self._client.ask(lambda client: client.delete(key))

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        self._client.close()
