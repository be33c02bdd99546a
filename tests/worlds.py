"""Begins again and again with a kept world, whose stores fail at one call if so wished."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from service.domain.errors import StoreUnavailableError
from service.domain.site import Site
from service.moderation.remembering import apply_to_reputation
from service.ports.services import Services
from service.stores.sql.base import SqlStore
from tests.databases import content_of, databases_given_back, fresh_stores
from tests.fakes import Overridden, make_services, make_site

_FAILING = ("history", "queue", "delivery_queue")


@contextlib.contextmanager
def services_in(
    world: bytes | None = None, *, sites: Sequence[Site] | None = None, **changes: Any
) -> Iterator[Services]:
    """Give services as `make_services` does, in a `world` that `kept_world` returned.

    Without one it is a fresh one with these sites. It ends with the context. Histories know what is
    decided there.
    """
    with databases_given_back():
        begun_with = [make_site()] if sites is None else sites
        services = make_services(stores=fresh_stores(sites=begun_with, world=world), **changes)
        for known in services.decisions.find_in_force(after=0, limit=999).items:
            apply_to_reputation(known, services)
        yield services


def kept_world(prepare: Callable[[Services], None], **changes: Any) -> bytes:
    """Return a database as `prepare` leaves it, to be begun with often."""
    with databases_given_back():
        stores = fresh_stores(sites=[make_site()])
        prepare(make_services(stores=stores, **changes))
        return content_of(stores)


class FailingAt:
    """Services whose stores fail at one call of all, the `at`-th, and answer all others.

    It fails before it has done anything or, with `answer_lost`, after it has done everything.
    With `at` 0 none fails; `calls` names the methods that were called, in order.
    """

    def __init__(self, services: Services, at: int = 0, *, answer_lost: bool = False) -> None:
        self.calls: list[str] = []
        self._at = at
        self._answer_lost = answer_lost
        wrapped: dict[str, Any] = {
            one.name: Overridden(
                port,
                **{
                    name: functools.partial(self.call, method)
                    for name, method in inspect.getmembers(port, inspect.ismethod)
                },
            )
            for one in fields(services)
            for port in [getattr(services, one.name)]
            if isinstance(port, SqlStore) or one.name in _FAILING
        }
        self.services = replace(services, **wrapped)

    def call(self, method: Any, *given: Any, **named: Any) -> Any:
        """Call a store's method, unless it is to fail."""
        self.calls.append(method.__name__)
        fails = len(self.calls) == self._at
        if fails and not self._answer_lost:
            raise StoreUnavailableError("the store went away")
        answer = method(*given, **named)
        if fails:
            raise StoreUnavailableError("the store's answer was lost")
        return answer
