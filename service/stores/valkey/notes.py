"""Short-lived notes in Valkey: progress of a rebuild, used tokens, sent digests."""

from datetime import timedelta
from typing import Any

from service.domain.comment import SiteId
from service.domain.form import TOKEN_LIFE
from service.stores.valkey.client import ValkeyStore

# A rebuild interrupted for this long restarts, because keys may have expired.
_PLACE_SECONDS = int(timedelta(days=1).total_seconds())
# A blog may get one comment a week.
_RECENT = timedelta(days=7)
_DIGEST_KEPT = timedelta(days=2)

# KEYS: the place. ARGV: the expected value, the new value ("" to delete), seconds to keep.
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
    """Stores the progress of a rebuild on the histories' node, to be lost together with them."""

    what = "the place of a rebuild"
    timeout_seconds = 1.0

    def find(self) -> int:
        """Return the place; without one, set it to 0."""
        # One command sets the value or returns the existing one.
        found: Any = self._ask(
            lambda client: client.set(self._key(), "0", nx=True, get=True, ex=_PLACE_SECONDS)
        )
        return int(found or 0)

    def move(self, seen: int, to: int | None) -> bool:
        """Set the place, or delete it for None, if it is still `seen`; return True if it was."""
        args = [self._key(), str(seen), "" if to is None else str(to), str(_PLACE_SECONDS)]
        return bool(self._ask(lambda client: client.eval(_MOVE, 1, *args)))

    def _key(self) -> str:
        return f"{self._prefix}:{{reputation}}:rebuild"


class SpentTokens(ValkeyStore):
    """Records for `TOKEN_LIFE` which tokens were used, and which sites' forms use tokens."""

    what = "the tokens of forms"
    # A visitor waits, and a failure does not refuse the comment.
    timeout_seconds = 0.25

    def spend(self, token_id: str, *, use: str, site_id: SiteId) -> bool:
        """Mark a token as used; return True if it was unused or used for the same `use`."""
        key = f"{self._prefix}:form:token:{token_id}"
        before: Any = self._ask(
            lambda client: client.set(key, use, nx=True, get=True, ex=TOKEN_LIFE)
        )
        site = f"{self._prefix}:form:site:{site_id}"
        self._ask(lambda client: client.set(site, "1", ex=_RECENT))
        return before is None or before == use.encode()

    def are_used_by(self, site_id: SiteId) -> bool:
        """Return True if a token of this site was used in the last week."""
        key = f"{self._prefix}:form:site:{site_id}"
        return bool(self._ask(lambda client: client.exists(key)))


class DigestClaims(ValkeyStore):
    """Records for two days which digests were sent."""

    what = "the note of digests"
    timeout_seconds = 1.0

    def claim(self, digest: str) -> bool:
        """Return True for exactly one of all calls, also concurrent ones, with the same digest."""
        key = f"{self._prefix}:digest:{digest}"
        return bool(self._ask(lambda client: client.set(key, "1", nx=True, ex=_DIGEST_KEPT)))

    def release(self, digest: str) -> None:
        key = f"{self._prefix}:digest:{digest}"
        self._ask(lambda client: client.delete(key))
