"""Reads how earlier decisions on a sender's address, network, e-mail or domains lean."""

from __future__ import annotations

from service.domain.history import History, Tally

# A network is shared by strangers, so what happened there says less than the address itself.
_SHARED_KEY_FACTOR = 0.5


def tallies_of(history: History) -> tuple[tuple[str, Tally, float], ...]:
    """Return each key in words, its tally and how much it says about this one sender."""
    return (
        ("the same address", history.address, 1.0),
        ("the same e-mail address", history.email, 1.0),
        ("the same linked domains", history.domains, 1.0),
        ("the same network", history.network, _SHARED_KEY_FACTOR),
    )


def lean(wanted: int, other: int) -> float:
    """Return how clearly decisions lean one way: 0 for none or evenly split, towards 1 for many.

    One decision counts half: a single ruling may have been a mistake.
    """
    return max(0.0, (wanted - other) / (wanted + other + 1))


def plural(count: int) -> str:
    """Return the count with its noun."""
    return "an earlier comment" if count == 1 else f"{count} earlier comments"
