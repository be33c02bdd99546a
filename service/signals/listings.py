"""How a reputation list's evidence fades with its age."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from service.domain.comment import Comment, ListBasis, Listing, ListKind
from service.domain.text import Phrase
from service.signals.detector import Observation

# Addresses change hands within weeks (a household gets another one, a rented machine another
# tenant), a domain keeps its owner for a year at least, and a throw-away mail service does not
# turn honest. Chosen by that reasoning, not fitted.
HALF_LIFE_DAYS = {
    ListKind.NETWORKS: 30.0,
    ListKind.DOMAINS: 365.0,
    ListKind.MAIL_DOMAINS: 1_095.0,
}
# What a list of each basis says of the most that any may say, before decisions here tell. Whole
# networks of spammers have few sincere users; a reported address has had some; exits and data
# centres belong to whoever needs them, and a link to a machine's text may be meant well. Chosen by
# that reasoning: none of the sample lists can be measured, as archives keep no addresses.
WORTH: Mapping[ListBasis, float] = MappingProxyType(
    {
        ListBasis.TOXIC: 0.8,
        ListBasis.REPORTED: 0.55,
        ListBasis.TOR: 0.2,
        ListBasis.DATA_CENTRE: 0.2,
        ListBasis.MACHINE_MADE: 0.2,
    }
)
# Which signal speaks for lists of a kind.
LIST_SIGNALS: Mapping[ListKind, str] = MappingProxyType(
    {
        ListKind.NETWORKS: "listed_address",
        ListKind.DOMAINS: "listed_domain",
        ListKind.MAIL_DOMAINS: "throwaway_mail",
    }
)
# Less than this tells nothing that is worth a line in an explanation.
_MIN_STRENGTH = 0.02
# A century: what is older by somebody's clock need not be told to the day.
_OLDEST_DAYS = 36_525.0


def freshness(age_days: float, kind: ListKind) -> float:
    """Return what a list of this age still tells, 1 for today's; half of it every half-life."""
    return float(0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS[kind]))


def listed_strength(comment: Comment, kind: ListKind) -> tuple[float, int, float]:
    """Return how strongly lists of a kind speak, how many there are, and the freshest one's age.

    Each speaks by its worth and its age. Several say little more than the strongest of them,
    because they copy from each other: each further one closes a quarter of the distance to 1 that
    is left, as far as it speaks. (0, 0, 0) where no list of the kind tells anything any more.
    """
    telling = sorted(_telling(comment, kind), reverse=True)
    if not telling:
        return 0.0, 0, 0.0
    strength = telling[0][0]
    for speaks, _ in telling[1:]:
        strength += (1.0 - strength) * 0.25 * speaks
    return strength, len(telling), min(age for _, age in telling)


def worth_of(listing: Listing) -> float:
    """Return the share of what a list may say at most that a listing's list does say."""
    return WORTH[listing.basis] if listing.worth is None else listing.worth


def listed(comment: Comment, kind: ListKind, *, what: Phrase) -> Observation | None:
    """Return the observation that lists of a kind hold the comment; `what` opens its reason."""
    strength, count, age = listed_strength(comment, kind)
    if strength <= 0.0:
        return None
    lists = in_words(count, age)
    return Observation(
        strength=strength, reason=Phrase("%(what)s on %(lists)s", what=what, lists=lists)
    )


def in_words(count: int, age_days: float) -> Phrase:
    """Return "2 lists, the freshest 3 days old"."""
    days = round(min(max(age_days, 0.0), _OLDEST_DAYS))
    if count == 1:
        if days < 1:
            return Phrase("a list, of today")
        return (
            Phrase("a list, 1 day old") if days == 1 else Phrase("a list, %(n)s days old", n=days)
        )
    if days < 1:
        return Phrase("%(lists)s lists, the freshest of today", lists=count)
    if days == 1:
        return Phrase("%(lists)s lists, the freshest 1 day old", lists=count)
    return Phrase("%(lists)s lists, the freshest %(n)s days old", lists=count, n=days)


def _telling(comment: Comment, kind: ListKind) -> Iterator[tuple[float, float]]:
    """Yield how strongly each list speaks, and its age."""
    for one in comment.sender.listings:
        speaks = worth_of(one) * freshness(one.age_days, kind)
        if one.kind is kind and speaks >= _MIN_STRENGTH:
            yield speaks, one.age_days
