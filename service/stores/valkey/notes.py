"""Small notes in Valkey: how far a rebuild is, which tokens were used, who has today's digest."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from service.domain.comment import SiteId
from service.domain.form import TOKEN_LIFE
from service.stores.valkey.client import ValkeyStore

# A rebuild that was interrupted this long ago starts again, as keys may have expired.
_PLACE_SECONDS = int(timedelta(days=1).total_seconds())
_TOKEN_SECONDS = int(TOKEN_LIFE.total_seconds())
# A blog may get one comment a week.
_OF_LATE_SECONDS = int(timedelta(days=7).total_seconds())
_DIGEST_SECONDS = int(timedelta(days=2).total_seconds())

# KEYS: the place. ARGV: where it must be, where it moves to ("" for nowhere), seconds to keep.
_MOVE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
    redis.call('DEL', KEYS[1])
else
    redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
end
return 1
"""


class RebuildPlace(ValkeyStore):
    """Keeps how far a rebuild of the histories has come, on their node, to be lost with them."""

    what = "the place of a rebuild"
    timeout_seconds = 1.0

    def find(self) -> int:
        """Return the place; where there is none it is 0 from now on."""
        self._ask(lambda client: client.set(self._key(), "0", nx=True, ex=_PLACE_SECONDS))
        found: Any = self._ask(lambda client: client.get(self._key()))
        return int(found or 0)

    def move(self, seen: int, to: int) -> bool:
        """Set the place if it is still `seen`; return whether it was."""
        return self._moved(seen, str(to))

    def clear(self, seen: int) -> bool:
        """Delete the place if it is still `seen`; return whether it was."""
        return self._moved(seen, "")

    def _key(self) -> str:
        return f"{self._prefix}:{{reputation}}:rebuild"

    def _moved(self, seen: int, to: str) -> bool:
        args = [self._key(), str(seen), to, str(_PLACE_SECONDS)]
        return bool(self._ask(lambda client: client.eval(_MOVE, 1, *args)))


class SpentTokens(ValkeyStore):
    """Remembers for `TOKEN_LIFE` which tokens were used, and which sites' forms use any."""

    what = "the tokens of forms"
    # A visitor waits, and the comment is taken without this.
    timeout_seconds = 0.25

    def spend(self, token_id: str, *, use: str, site_id: SiteId) -> bool:
        """Mark a token used; return True if it was unused or used for the same `use`."""
        key = f"{self._prefix}:form:token:{token_id}"
        # One command sets it or returns what is there.
        before: Any = self._ask(
            lambda client: client.set(key, use, nx=True, get=True, ex=_TOKEN_SECONDS)
        )
        site = f"{self._prefix}:form:site:{site_id}"
        self._ask(lambda client: client.set(site, "1", ex=_OF_LATE_SECONDS))
        return before is None or before == use.encode()

    def are_used_by(self, site_id: SiteId) -> bool:
        """Return True if a token of this site was used lately."""
        key = f"{self._prefix}:form:site:{site_id}"
        return bool(self._ask(lambda client: client.exists(key)))


class DigestClaims(ValkeyStore):
    """Remembers for two days who was sent a digest."""

    what = "the note of digests"
    timeout_seconds = 1.0

    def claim(self, digest: str) -> bool:
        """Return True for the first call of several, also at once, that name the same digest."""
        key = f"{self._prefix}:digest:{digest}"
        return bool(self._ask(lambda client: client.set(key, "1", nx=True, ex=_DIGEST_SECONDS)))

    def release(self, digest: str) -> None:
        """Let the next call have it."""
        key = f"{self._prefix}:digest:{digest}"
        self._ask(lambda client: client.delete(key))
