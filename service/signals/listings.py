"""How a reputation list's evidence fades with its age."""

from collections.abc import Mapping

from service.domain.comment import Comment, ListBasis, ListKind
from service.domain.text import Phrase
from service.signals.detector import Observation

# Addresses change hands within weeks (a household gets another one, a rented machine another
# tenant), a domain keeps its owner for a year at least, and a throw-away mail service does not
# turn honest. Set by judgement.
HALF_LIFE_DAYS = {
    ListKind.NETWORKS: 30.0,
    ListKind.DOMAINS: 365.0,
    ListKind.MAIL_DOMAINS: 1_095.0,
}
# The share of a list's greatest weight by its basis, before decisions here move it. Whole
# networks of spammers have few sincere users; a reported address has had some; exits and data
# centres belong to people of all kinds, and a link to a machine's text may be meant well. Set by
# judgement, as archives keep no addresses.
WORTH: Mapping[ListBasis, float] = {
    ListBasis.TOXIC: 0.8,
    ListBasis.REPORTED: 0.55,
    ListBasis.TOR: 0.2,
    ListBasis.DATA_CENTRE: 0.2,
    ListBasis.MACHINE_MADE: 0.2,
}
# Which signal speaks for lists of a kind.
LIST_SIGNALS: Mapping[ListKind, str] = {
    ListKind.NETWORKS: "listed_address",
    ListKind.DOMAINS: "listed_domain",
    ListKind.MAIL_DOMAINS: "throwaway_mail",
}
# Less than this is not worth a line in an explanation.
_MIN_STRENGTH = 0.02
# A century: an older list's age need not be exact.
_OLDEST_DAYS = 36_525.0


def freshness(age_days: float, kind: ListKind) -> float:
    """Return the share of a list's worth that is left at this age; it halves every half-life."""
    return float(0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS[kind]))


def listed(comment: Comment, kind: ListKind, *, what: Phrase) -> Observation | None:
    """Return the observation that lists of a kind hold the comment; `what` opens its reason.

    Each list speaks by its worth and its age. Several say little more than the strongest of them,
    because they copy from each other: each further one closes a quarter of the distance to 1 that
    is left, as far as it speaks.
    """
    counting = []
    for one in comment.sender.listings:
        worth = WORTH[one.basis] if one.worth is None else one.worth
        speaks = worth * freshness(one.age_days, kind)
        if one.kind is kind and speaks >= _MIN_STRENGTH:
            counting.append((speaks, one.age_days))
    if not counting:
        return None
    counting.sort(reverse=True)
    strength = counting[0][0]
    for speaks, _ in counting[1:]:
        strength += (1.0 - strength) * 0.25 * speaks
    lists = _in_words(len(counting), min(age for _, age in counting))
    return Observation(
        strength=strength, reason=Phrase("%(what)s on %(lists)s", what=what, lists=lists)
    )


def _in_words(count: int, age_days: float) -> Phrase:
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
