"""Remembers in Valkey which tokens of comment forms were used."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from service.domain.comment import SiteId
from service.domain.form import TOKEN_LIFE
from service.stores.valkey.client import ValkeyStore

_KEPT_SECONDS = int(TOKEN_LIFE.total_seconds())
# A blog may draw a comment a week; whoever takes the script away is told of nothing missing then.
_OF_LATE_SECONDS = int(timedelta(days=7).total_seconds())


class ValkeySpentTokens(ValkeyStore):
    """Keeps digests of tokens in Valkey or Redis 7 and later; see `SpentTokens`.

    With `cluster` the URL names any node of a cluster. Nothing is opened before the first call.
    """

    what = "the tokens of forms"
    # A visitor waits, and the comment is taken without this.
    timeout_seconds = 0.25

    def spend(self, token_id: str, *, use: str, site_id: SiteId) -> bool:
        """See `SpentTokens.spend`."""
        key = f"{self._prefix}:form:token:{token_id}"
        # One command sets it or returns what is there.
        before: Any = self._ask(
            lambda client: client.set(key, use, nx=True, get=True, ex=_KEPT_SECONDS)
        )
        site = f"{self._prefix}:form:site:{site_id}"
        self._ask(lambda client: client.set(site, "1", ex=_OF_LATE_SECONDS))
        return before is None or before == use.encode()

    def are_used_by(self, site_id: SiteId) -> bool:
        """See `SpentTokens.are_used_by`."""
        key = f"{self._prefix}:form:site:{site_id}"
        return bool(self._ask(lambda client: client.exists(key)))
