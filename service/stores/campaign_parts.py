"""A campaign's subject and its first comments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from service.campaigns.targets import NAME

# Of how many of its newest members a campaign's targets are read.
READ_FOR_TARGETS = 20
BEGINNINGS = 3
_TARGETS_NAMED = 4
_GUESSED = f"{NAME}:"


def most_common(targets: Iterable[str]) -> tuple[str, ...]:
    """Return a few targets, the most common first, equally common ones by name.

    Of guessed names of what is sold one at most: they are many, and share their letters.
    """
    counts = Counter(targets)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = [target for target, _ in ordered if target.startswith(_GUESSED)]
    chosen = [target for target, _ in ordered if target not in names[1:]]
    return tuple(chosen[:_TARGETS_NAMED])
