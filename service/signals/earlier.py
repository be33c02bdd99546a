"""Reads how far earlier decisions and sightings under one key speak for or against a comment."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from operator import itemgetter

from service.domain.comment import Comment
from service.domain.decision import Ruling
from service.domain.sender import History, Record, TrackRecord
from service.domain.text import N_, Phrase
from service.signals.detector import Observation

# What moderators of other sites ruled counts half: their readers and their rules are not ours.
_ELSEWHERE = 0.5

# For one comment and for several; the versions of an edited comment are decided on as well.
_SAID = {
    (Ruling.REJECT, False): (
        N_("moderators rejected an earlier comment %(where)s"),
        N_("moderators rejected %(n)s earlier comments %(where)s"),
    ),
    (Ruling.REJECT, True): (
        N_("moderators rejected an earlier comment or version %(where)s"),
        N_("moderators rejected %(n)s earlier comments or versions %(where)s"),
    ),
    (Ruling.APPROVE, False): (
        N_("moderators approved an earlier comment %(where)s"),
        N_("moderators approved %(n)s earlier comments %(where)s"),
    ),
    (Ruling.APPROVE, True): (
        N_("moderators approved an earlier comment or version %(where)s"),
        N_("moderators approved %(n)s earlier comments or versions %(where)s"),
    ),
}


@dataclass(frozen=True, slots=True)
class Key:
    """One kind of thing that is remembered, and how much it may say.

    `where` ends the sentence "moderators rejected 3 earlier comments ...". It says nothing on fewer
    than `min_decisions`; these fade, so 0.25 is one decision that is not much too old, and anything
    just above n - 1 takes n. `prior` is how many decisions of each kind are assumed before the
    first. `dissent` is how much a decision to the contrary counts against one that agrees: above 1
    for what strangers share. The lean never exceeds `most`.
    """

    where: Phrase
    track_record: Callable[[History], TrackRecord]
    _: KW_ONLY
    min_decisions: float = 0.25
    prior: float = 1.0
    dissent: float = 1.0
    most: float = 1.0


EMAIL = Key(Phrase("from the same e-mail address"), lambda h: h.email)
# A name can be copied from the page it stands on, and many people share one: every Tom would pay.
NAME = Key(
    Phrase("under the same name"), lambda h: h.name, min_decisions=2.1, dissent=5.0, most=0.2
)
# Trust is earned more slowly than it is lost: a spammer can age an account with two remarks.
TRUSTED_EMAIL = replace(EMAIL, min_decisions=1.1, prior=2.0)
ACCOUNT = Key(Phrase("from the same account"), lambda h: h.account)
TRUSTED_ACCOUNT = replace(ACCOUNT, min_decisions=1.1, prior=2.0)
# What is trusted is what was shown: for an offer only approved offers speak, while every rejection
# speaks against it.
OFFERED_BY_EMAIL = replace(
    TRUSTED_EMAIL,
    where=Phrase("with an offer from the same e-mail address"),
    track_record=lambda h: _of_offers(h.email_offers, h.email),
)
OFFERED_BY_ACCOUNT = replace(
    TRUSTED_ACCOUNT,
    where=Phrase("with an offer from the same account"),
    track_record=lambda h: _of_offers(h.account_offers, h.account),
)
# Strangers share what follows: a household, a university, a carrier, an exit of Tor. A sincere
# comment from there proves that sincere people write from there, so it counts fivefold, and the
# wider the key, the more decisions it takes and the less it may say.
SHARED = tuple(
    Key(where, record, min_decisions=least, dissent=5.0, most=most)
    for where, record, least, most in (
        (Phrase("from the same address"), lambda h: h.address, 1.1, 1.0),
        (Phrase("from the same network"), lambda h: h.network, 2.1, 0.6),
        (Phrase("from the same wider network"), lambda h: h.wide_network, 4.1, 0.4),
        (Phrase("from the same network provider"), lambda h: h.system, 9.1, 0.3),
    )
)
MAIL_DOMAIN = Key(
    Phrase("from the same mail domain"),
    lambda h: h.email_domain,
    min_decisions=2.1,
    dissent=5.0,
    most=0.6,
)
TARGET = Key(Phrase("with a link to the same domain"), lambda h: h.domains)
COPY = Key(Phrase("of nearly the same words"), lambda h: h.content)


def decided_before(
    ruling: Ruling, comment: Comment, history: History, *keys: Key
) -> Observation | None:
    """Return the observation that decisions under one of the keys lean to a ruling, if they do.

    Of several keys the one speaks whose decisions lean clearest.
    """
    lean, key = max(((_lean(key, history, ruling), key) for key in keys), key=itemgetter(0))
    if lean <= 0.0:
        return None
    everywhere = key.track_record(history).everywhere
    # They fade, and nobody counts parts of comments.
    n = round(everywhere.approved if ruling is Ruling.APPROVE else everywhere.rejected)
    one, many = _SAID[ruling, comment.edit is not None]
    reason = Phrase(one, where=key.where) if n <= 1 else Phrase(many, n=n, where=key.where)
    return Observation(strength=lean, reason=reason)


def is_known(history: History) -> bool:
    """Return True if the person's e-mail or account has decisions: they outrank neighbours'."""
    return any(
        _decisions(key.track_record(history).everywhere) >= key.min_decisions
        for key in (EMAIL, ACCOUNT)
    )


def is_regular(history: History) -> bool:
    """Return True if moderators mostly approve comments of the person's e-mail or account."""
    return any(
        _lean(key, history, Ruling.APPROVE) > 0.0 for key in (TRUSTED_EMAIL, TRUSTED_ACCOUNT)
    )


def squashed_log_odds(agreeing: float, contrary: float, prior: float) -> float:
    """Return how far decisions lean one way, in (-1, 1); 0 for none and for an even split.

    The log-odds of the decisions, smoothed by `prior` assumed ones of each kind, squashed by
    tanh(log-odds / 2): log((a + p) / (c + p)) becomes (a - c) / (a + c + 2p). With a prior of 1 one
    decision gives 1/3, four give 2/3, forty give 0.95.
    """
    return (agreeing - contrary) / (agreeing + contrary + 2.0 * prior)


def excess(seen: int, usual: int) -> float:
    """Return how far a number of sightings lies above what people do, in [0, 1)."""
    return max(0, seen - usual) / (max(seen, usual) + 1)


def _lean(key: Key, history: History, ruling: Ruling) -> float:
    """Return how far decisions under a key lean to a ruling, at most 1."""
    record = key.track_record(history)
    if _decisions(record.everywhere) < key.min_decisions:
        return 0.0
    approved = _own_first(record.here.approved, record.everywhere.approved)
    rejected = _own_first(record.here.rejected, record.everywhere.rejected)
    if ruling is Ruling.APPROVE:
        lean = squashed_log_odds(approved, key.dissent * rejected, key.prior)
    else:
        lean = squashed_log_odds(rejected, key.dissent * approved, key.prior)
    return min(key.most, lean)


def _own_first(here: float, everywhere: float) -> float:
    """Return decisions in worth of own ones; `everywhere` includes the own site's."""
    return here + _ELSEWHERE * max(0.0, everywhere - here)


def _of_offers(offered: TrackRecord, all_of_it: TrackRecord) -> TrackRecord:
    return TrackRecord(
        here=replace(offered.here, rejected=all_of_it.here.rejected),
        everywhere=replace(offered.everywhere, rejected=all_of_it.everywhere.rejected),
    )


def _decisions(record: Record) -> float:
    return record.approved + record.rejected
