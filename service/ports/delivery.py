"""Protocols for sending messages to sites and platforms."""

from collections.abc import Callable, Sequence
from typing import Protocol

from service.domain.case import Case
from service.domain.delivery import Delivery, Endpoint, PlatformAct, SendOutcome

# Returns the messages about cases. A store calls it within a transaction, possibly more than once:
# it must not call stores.
Tell = Callable[[Sequence[Case]], Sequence[Delivery]]


class Waker(Protocol):
    """Wakes the background process to deliver or to retrain; otherwise it polls the database."""

    def wake(self) -> None:
        """Start a run now. Raise `StoreUnavailableError` within about two seconds."""

    def has_listener(self) -> bool:
        """Return True if a process that retrains sent a heartbeat recently.

        Raise `StoreUnavailableError`.
        """


class SiteNotifier(Protocol):
    """Calls sites at URLs that users set, except forbidden ones."""

    def refuse(self, url: str) -> str | None:
        """Return the reason why this URL is never called, None if it may be.

        It resolves no name; `send` and `apply` do at each call.
        """

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        """Send a message, signed for `endpoint`, within a time limit. Never raises."""

    def apply(self, endpoint: Endpoint, act: PlatformAct) -> SendOutcome:
        """Perform `act` at the platform of `endpoint`. Never raises; see `send`."""
