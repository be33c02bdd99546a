"""Reads how earlier decisions on a sender's address, network, e-mail or domains lean."""

from __future__ import annotations

from service.domain.history import History, Record

# A network is shared by strangers, so what happened there says less than the address itself.
_SHARED_KEY_FACTOR = 0.5


def records_of(history: History) -> tuple[tuple[str, Record, float], ...]:
    """Return each key in words, its record and how much it says about this one sender."""
    return (
        ("the same address", history.address.everywhere, 1.0),
        ("the same e-mail address", history.email.everywhere, 1.0),
        ("the same linked domains", history.domains.everywhere, 1.0),
        ("the same network", history.network.everywhere, _SHARED_KEY_FACTOR),
    )


def lean(wanted: float, other: float) -> float:
    """Return how clearly decisions lean one way: 0 for none or evenly split, towards 1 for many.

    One decision counts half: a single ruling may have been a mistake.
    """
    return max(0.0, (wanted - other) / (wanted + other + 1))


def plural(count: float) -> str:
    """Return the count, rounded, with its noun."""
    count = round(count)
    return "an earlier comment" if count == 1 else f"{count} earlier comments"
