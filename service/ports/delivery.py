"""What carries messages: to sites and their platforms, by mail, into a chat room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from service.domain.case import Case
from service.domain.delivery import Delivery, Endpoint, PlatformAct, SendOutcome
from service.domain.user import Mail, Sent

# Returns the messages about cases. A store calls it in a transaction, perhaps more than once: it
# must not call stores.
Tell = Callable[[Sequence[Case]], Sequence[Delivery]]


class DeliveryQueue(Protocol):
    """Wakes the worker that delivers, which otherwise looks some seconds later."""

    def wake(self) -> None:
        """Have it deliver now. Raise `StoreUnavailableError` within about two seconds."""


class SiteNotifier(Protocol):
    """Calls sites, at addresses that strangers chose, unless they are forbidden."""

    def refuse(self, url: str) -> str | None:
        """Return in fixed words why this address is never called, None if it may be.

        No name is resolved: that happens at each call.
        """

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        """Send one message, signed for `endpoint`, within a time limit. Never raises."""

    def apply(self, delivery: Delivery, endpoint: Endpoint, act: PlatformAct) -> SendOutcome:
        """Do this at the platform of `endpoint`, as `send` does."""


class Mailer(Protocol):
    """Sends mail."""

    def send(self, mail: Mail) -> Sent:
        """Hand one mail to the mail server within a time limit. Never raises."""


class Room(Protocol):
    """Posts to the chat room that this installation is set up for."""

    def post(self, text: str) -> Sent:
        """Post one message within a time limit. Never raises."""
