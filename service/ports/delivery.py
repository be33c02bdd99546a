"""Messages between sites and this service, both ways."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from service.domain.applying import Applied, PlatformAct
from service.domain.comment import SiteId
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    Endpoint,
    SendOutcome,
    Troubles,
)
from service.domain.inbound import InboundHook
from service.ports.audit import AuditEntry


class EndpointStore(Protocol):
    """Keeps where sites want to be told."""

    def put(self, endpoint: Endpoint, *, act: AuditEntry | None = None) -> None:
        """Keep a site's endpoint in place of an earlier one, and the log's entry.

        Raise `NotFoundError`.
        """

    def change(
        self,
        site_id: SiteId,
        how: Callable[[Endpoint | None], Endpoint],
        *,
        act: AuditEntry | None = None,
    ) -> Endpoint:
        """Keep what `how` makes of a site's endpoint of this moment and the log's entry; return it.

        No other change happens in between. `how` may be called more than once; what it raises is
        raised, and nothing is changed then. Raise `NotFoundError`.
        """

    def get(self, site_id: SiteId) -> Endpoint | None:
        """Return a site's endpoint, None if it wants none."""

    def remove(self, site_id: SiteId, *, act: AuditEntry | None = None) -> None:
        """Forget a site's endpoint, and keep the log's entry; harmless if there is none."""

    def pause(
        self,
        endpoint: Endpoint,
        *,
        refused_at: datetime | None = None,
        rests_until: datetime | None = None,
        called_at: datetime | None = None,
    ) -> None:
        """Keep since when its token is refused, how long it rests and when it was called.

        None, and what is earlier than it is already, changes nothing; nor does anything if the site
        has another token by now. Only `put` and `change` end a pause.
        """

    def begin_call(self, endpoint: Endpoint, *, at: datetime, until: datetime) -> bool:
        """Let it rest till `until` and return True, to one of several callers at once.

        False, and nothing changed, if it is paused at `at` or the site has another by now.
        """


class AppliedStore(Protocol):
    """Remembers what Slopsieve hid at platforms, as long as it did not show it again there."""

    def put(self, applied: Applied) -> None:
        """Keep what is known of a hidden comment in place of what was. Raise `NotFoundError`."""

    def get(self, site_id: SiteId, site_comment_id: str) -> Applied | None:
        """Return what is known of a comment, None if it was not hidden."""

    def remove(self, site_id: SiteId, site_comment_id: str) -> None:
        """Forget a comment that is shown again; harmless for any other."""


class DeliveryStore(Protocol):
    """Keeps what sites are to be told, until they have been told."""

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """Keep deliveries; a known id changes nothing. Raise `NotFoundError` for no comment.

        `seq` is given by the store: of one comment's deliveries what was kept later has the
        higher one.
        """

    def take_due(
        self,
        now: datetime,
        *,
        until: datetime,
        limit: int,
        except_sites: Collection[SiteId] = (),
    ) -> list[Delivery]:
        """Return waiting deliveries whose time has come, and lease them till `until`.

        Those of `except_sites` stay where they are: such a site is being told enough already. So
        do those for a platform that refused its token or that rests.

        Those that are due the longest come first. At most one a comment: a later one waits until
        the earlier was delivered or given up. No other call returns a leased one, or another of its
        comment, before `until` or `record`.
        """

    def record(
        self,
        attempt: DeliveryAttempt,
        *,
        state: DeliveryState,
        next_try_at: datetime | None = None,
    ) -> Delivery:
        """Log an attempt, set what follows from it and return the delivery.

        WAITING goes on at `next_try_at`, at once without one. What was delivered stays so,
        whatever a slower worker tells, and what was given up waits no more until it is replayed.
        Raise `NotFoundError` for an unknown delivery.
        """

    def release(self, delivery_id: str, *, until: datetime) -> None:
        """Give a leased delivery back untried, to be due at `until`; harmless for any other."""

    def replay(
        self,
        delivery_ids: Sequence[str],
        *,
        at: datetime,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> int:
        """Let given-up deliveries be tried again from the start; return how many there were.

        If there were any, `act` returns the log's entry of so many.
        """

    def get(self, delivery_id: str) -> Delivery:
        """Return a delivery. Raise `NotFoundError` for an unknown one."""

    def recent(
        self, *, state: DeliveryState | None, site_id: SiteId | None, limit: int
    ) -> list[Delivery]:
        """Return the newest deliveries first."""

    def troubles(self, *, site_ids: Collection[SiteId] | None, at_most: int) -> Troubles:
        """Return what needs a person, of these sites, of all for None; messages to `at_most`."""

    def attempts(self, delivery_id: str) -> list[DeliveryAttempt]:
        """Return a delivery's attempts, oldest first."""

    def prune(self, *, delivered_before: datetime, limit: int) -> int:
        """Delete those delivered longest ago, with their attempts; return how many, at most limit.

        What waits or was given up is never deleted, however old.
        """


class DeliveryQueue(Protocol):
    """Wakes whoever delivers."""

    def wake(self) -> None:
        """Ask that what is due goes out now; without it that happens some seconds later.

        Raise `StoreUnavailableError` within about two seconds if it can't.
        """


class SiteNotifier(Protocol):
    """Speaks to sites, at addresses that strangers chose and that lead nowhere forbidden."""

    def refuse(self, url: str) -> str | None:
        """Say in fixed words why this address is never called; None if it may be.

        Nobody is asked: what a name stands for is looked at when it is called.
        """

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        """Send one message and return what came of it; end in time, whatever the site does.

        `endpoint` signs Standard Webhooks. What goes wrong outside is told, never raised.
        """

    def apply(self, delivery: Delivery, endpoint: Endpoint, act: PlatformAct) -> SendOutcome:
        """Do this at the platform of `endpoint` and return what came of it, as `send` does."""


class InboundStore(Protocol):
    """Keeps inbound hooks and remembers which of their deliveries were seen."""

    def add(self, hook: InboundHook, *, act: AuditEntry | None = None) -> None:
        """Keep a hook and the log's entry.

        Raise `NotFoundError` for an unknown site, `ConflictError` for its id.
        """

    def get(self, hook_id: str) -> InboundHook | None:
        """Return a hook, revoked or not."""

    def all(self, site_id: SiteId | None = None) -> list[InboundHook]:
        """Return hooks, oldest first."""

    def revoke(self, hook_id: str, *, at: datetime, act: AuditEntry | None = None) -> InboundHook:
        """End a hook at once, and keep the log's entry. Raise `NotFoundError`."""

    def remember(self, hook_id: str, delivery_id: str, *, at: datetime, forget: datetime) -> bool:
        """Remember a delivery; return False if it was seen since `forget`. Forgets older ones.

        Of several calls at once one returns True. Raise `NotFoundError` for an unknown hook.
        """

    def has_seen(self, hook_id: str, delivery_id: str, *, since: datetime) -> bool:
        """Return True if a delivery was remembered at `since` or later."""
