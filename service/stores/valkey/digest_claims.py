"""Remembers in Valkey who was sent today's digest."""

from __future__ import annotations

from datetime import timedelta

from service.stores.valkey.client import ValkeyStore

_KEPT_SECONDS = int(timedelta(days=2).total_seconds())


class ValkeyDigestClaims(ValkeyStore):
    """Sets one key for each digest, which goes by itself; see `DigestClaims`."""

    what = "the note of digests"
    timeout_seconds = 1.0

    def claim(self, digest: str) -> bool:
        """See `DigestClaims.claim`."""
        key = f"{self._prefix}:digest:{digest}"
        return bool(self._ask(lambda client: client.set(key, "1", nx=True, ex=_KEPT_SECONDS)))

    def release(self, digest: str) -> None:
        """See `DigestClaims.release`."""
        key = f"{self._prefix}:digest:{digest}"
        self._ask(lambda client: client.delete(key))
