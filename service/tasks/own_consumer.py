"""The bootstep that our own consumers share: it ends quietly where its connection is lost."""

from __future__ import annotations

from typing import Any

from celery import bootsteps


class OwnConsumerStep(bootsteps.ConsumerStep):  # type: ignore[misc]  # Celery ships no types
    """Consumes while there is a connection.

    Celery lets go of a lost connection, and with it of all its channels, before it stops its steps.
    """

    def stop(self, parent: Any) -> None:
        """Cancel the consumers, where there is a connection to say so."""
        if parent.connection is not None:
            super().stop(parent)

    def shutdown(self, parent: Any) -> None:
        """Close the channels, likewise."""
        if parent.connection is not None:
            super().shutdown(parent)
