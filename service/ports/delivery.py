"""What carries messages: to sites and their platforms, by mail, into a chat room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from service.domain.case import Case
from service.domain.delivery import (
    Delivery,
    Endpoint,
    PlatformAct,
    SendOutcome,
)
from service.domain.user import Mail, Sent

# What sites are to be told of cases as they stand. A store calls it within a transaction, perhaps
# more than once: it must ask no store for anything.
Tell = Callable[[Sequence[Case]], Sequence[Delivery]]


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


class Mailer(Protocol):
    """Sends mail."""

    def send(self, mail: Mail) -> Sent:
        """Hand one mail to the mail server; end in time, whatever it does. Never raises."""


class Room(Protocol):
    """Posts to the chat room that this installation is set up for."""

    def post(self, text: str) -> Sent:
        """Post one message; end in time, whatever the other side does. Never raises."""
