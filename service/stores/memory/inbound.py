"""Keeps inbound hooks in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from service.domain.comment import SiteId
from service.domain.errors import ConflictError, NotFoundError
from service.domain.inbound import InboundHook


class MemoryInboundStore:
    """Keeps inbound hooks in memory; see `InboundStore`.

    `require_site` raises `NotFoundError` for an unknown site.
    """

    def __init__(self, require_site: Callable[[SiteId], object]) -> None:
        self._require_site = require_site
        self._lock = threading.RLock()
        self._hooks: dict[str, InboundHook] = {}
        self._seen: dict[tuple[str, str], datetime] = {}

    def add(self, hook: InboundHook) -> None:
        """See `InboundStore.add`."""
        self._require_site(hook.site_id)
        with self._lock:
            if hook.id in self._hooks:
                raise ConflictError("there is such a hook already")
            self._hooks[hook.id] = hook

    def get(self, hook_id: str) -> InboundHook | None:
        """See `InboundStore.get`."""
        with self._lock:
            return self._hooks.get(hook_id)

    def all(self, site_id: SiteId | None = None) -> list[InboundHook]:
        """See `InboundStore.all`."""
        with self._lock:
            hooks = [hook for hook in self._hooks.values() if site_id in (None, hook.site_id)]
        return sorted(hooks, key=lambda hook: (hook.created_at, hook.id))

    def revoke(self, hook_id: str, *, at: datetime) -> InboundHook:
        """See `InboundStore.revoke`."""
        with self._lock:
            hook = self._known(hook_id)
            self._hooks[hook_id] = replace(hook, revoked_at=hook.revoked_at or at)
            return self._hooks[hook_id]

    def remember(self, hook_id: str, delivery_id: str, *, at: datetime, forget: datetime) -> bool:
        """See `InboundStore.remember`."""
        with self._lock:
            self._known(hook_id)
            self._seen = {
                key: seen_at
                for key, seen_at in self._seen.items()
                if key[0] != hook_id or seen_at >= forget
            }
            if (hook_id, delivery_id) in self._seen:
                return False
            self._seen[hook_id, delivery_id] = at
            return True

    def has_seen(self, hook_id: str, delivery_id: str, *, since: datetime) -> bool:
        """See `InboundStore.has_seen`."""
        with self._lock:
            seen_at = self._seen.get((hook_id, delivery_id))
        return seen_at is not None and seen_at >= since

    def _known(self, hook_id: str) -> InboundHook:
        if hook_id not in self._hooks:
            msg = f"there is no hook {hook_id!r}"
            raise NotFoundError(msg)
        return self._hooks[hook_id]
