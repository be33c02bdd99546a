"""Says how much a reputation list's age leaves of what it tells."""

from __future__ import annotations

from collections.abc import Iterable

from service.domain.comment import Comment, Listing, ListKind
from service.domain.verdict import Signal

# Addresses change hands within weeks (a household gets another one, a rented machine another
# tenant), a domain keeps its owner for a year at least, and a throw-away mail service does not
# turn honest. Chosen by that reasoning, not fitted.
HALF_LIFE_DAYS = {
    ListKind.NETWORKS: 30.0,
    ListKind.DOMAINS: 365.0,
    ListKind.MAIL_DOMAINS: 1_095.0,
}
# Less than this tells nothing that is worth a line in an explanation.
_MIN_STRENGTH = 0.02
# A century: what is older by somebody's clock need not be told to the day.
_OLDEST_DAYS = 36_525.0


def freshness(age_days: float, kind: ListKind) -> float:
    """Return what a list of this age still tells, 1 for today's; half of it every half-life."""
    return float(0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS[kind]))


def listed_strength(comment: Comment, kind: ListKind) -> tuple[float, int, float]:
    """Return how strongly lists of a kind speak, how many there are, and the freshest one's age.

    Several lists say little more than the freshest of them, because they copy from each other:
    each further one closes a quarter of the distance to 1 that is left, as far as it is fresh.
    (0, 0, 0) where no list of the kind tells anything any more.
    """
    ages = sorted(_telling_ages(comment.sender.listings, kind))
    if not ages:
        return 0.0, 0, 0.0
    strength = 0.75 * freshness(ages[0], kind)
    for age in ages[1:]:
        strength += (1.0 - strength) * 0.25 * freshness(age, kind)
    return strength, len(ages), ages[0]


def listed(name: str, comment: Comment, kind: ListKind, *, what: str) -> Signal | None:
    """Return the signal that lists of a kind hold the comment; `what` opens its reason."""
    strength, count, age = listed_strength(comment, kind)
    if strength <= 0.0:
        return None
    return Signal(name=name, strength=strength, reason=f"{what} on {in_words(count, age)}")


def in_words(count: int, age_days: float) -> str:
    """Return "2 lists, the freshest 3 days old"."""
    days = round(min(max(age_days, 0.0), _OLDEST_DAYS))
    old = "of today" if days < 1 else "1 day old" if days == 1 else f"{days:,} days old"
    return f"a list, {old}" if count == 1 else f"{count} lists, the freshest {old}"


def _telling_ages(listings: Iterable[Listing], kind: ListKind) -> Iterable[float]:
    for one in listings:
        if one.kind is kind and freshness(one.age_days, kind) >= _MIN_STRENGTH:
            yield one.age_days
