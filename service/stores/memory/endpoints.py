"""Keeps where sites want to be told in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable

from service.domain.comment import SiteId
from service.domain.delivery import Endpoint


class MemoryEndpointStore:
    """Keeps endpoints in memory; see `EndpointStore`.

    `require_site` raises `NotFoundError` for an unknown site.
    """

    def __init__(self, require_site: Callable[[SiteId], object]) -> None:
        self._require_site = require_site
        self._lock = threading.Lock()
        self._endpoints: dict[SiteId, Endpoint] = {}

    def put(self, endpoint: Endpoint) -> None:
        """See `EndpointStore.put`."""
        self._require_site(endpoint.site_id)
        with self._lock:
            self._endpoints[endpoint.site_id] = endpoint

    def get(self, site_id: SiteId) -> Endpoint | None:
        """See `EndpointStore.get`."""
        with self._lock:
            return self._endpoints.get(site_id)

    def remove(self, site_id: SiteId) -> None:
        """See `EndpointStore.remove`."""
        with self._lock:
            self._endpoints.pop(site_id, None)
