"""Reads how far earlier decisions and sightings under one key speak for or against a comment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.domain.comment import Comment
from service.domain.sender import History, Record, TrackRecord
from service.domain.text import Phrase, noted
from service.signals.detector import Observation

# What moderators of other sites ruled counts half: their readers and their rules are not ours.
_ELSEWHERE = 0.5


# For one comment and for several; the versions of an edited comment are decided on as well.
_REJECTED = {
    False: (
        noted("moderators rejected an earlier comment %(where)s"),
        noted("moderators rejected %(n)s earlier comments %(where)s"),
    ),
    True: (
        noted("moderators rejected an earlier comment or version %(where)s"),
        noted("moderators rejected %(n)s earlier comments or versions %(where)s"),
    ),
}
_APPROVED = {
    False: (
        noted("moderators approved an earlier comment %(where)s"),
        noted("moderators approved %(n)s earlier comments %(where)s"),
    ),
    True: (
        noted("moderators approved an earlier comment or version %(where)s"),
        noted("moderators approved %(n)s earlier comments or versions %(where)s"),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
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
    min_decisions: float = 0.25
    prior: float = 1.0
    dissent: float = 1.0
    most: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """How far decisions under a key lean one way, at most 1, and how many at all sites do."""

    lean: float
    count: float
    where: Phrase


EMAIL = Key(where=Phrase("from the same e-mail address"), track_record=lambda h: h.email)
# A name can be copied from the page it stands on, and many people share one: every Tom would pay.
NAME = Key(
    where=Phrase("under the same name"),
    track_record=lambda h: h.name,
    min_decisions=2.1,
    dissent=5.0,
    most=0.2,
)
# Trust is earned more slowly than it is lost: a spammer can age an account with two remarks.
TRUSTED_EMAIL = Key(
    where=Phrase("from the same e-mail address"),
    track_record=lambda h: h.email,
    min_decisions=1.1,
    prior=2.0,
)
ACCOUNT = Key(where=Phrase("from the same account"), track_record=lambda h: h.account)
TRUSTED_ACCOUNT = Key(
    where=Phrase("from the same account"),
    track_record=lambda h: h.account,
    min_decisions=1.1,
    prior=2.0,
)
# What is trusted is what was shown: for an offer only approved offers speak, while every rejection
# speaks against it.
OFFERED_BY_EMAIL = Key(
    where=Phrase("with an offer from the same e-mail address"),
    track_record=lambda h: _of_offers(h.email_offers, h.email),
    min_decisions=1.1,
    prior=2.0,
)
OFFERED_BY_ACCOUNT = Key(
    where=Phrase("with an offer from the same account"),
    track_record=lambda h: _of_offers(h.account_offers, h.account),
    min_decisions=1.1,
    prior=2.0,
)
# Strangers share what follows: a household, a university, a carrier, an exit of Tor. A sincere
# comment from there proves that sincere people write from there, so it counts fivefold, and the
# wider the key, the more decisions it takes and the less it may say.
SHARED = (
    Key(
        where=Phrase("from the same address"),
        track_record=lambda h: h.address,
        min_decisions=1.1,
        dissent=5.0,
    ),
    Key(
        where=Phrase("from the same network"),
        track_record=lambda h: h.network,
        min_decisions=2.1,
        dissent=5.0,
        most=0.6,
    ),
    Key(
        where=Phrase("from the same wider network"),
        track_record=lambda h: h.wide_network,
        min_decisions=4.1,
        dissent=5.0,
        most=0.4,
    ),
    Key(
        where=Phrase("from the same network provider"),
        track_record=lambda h: h.system,
        min_decisions=9.1,
        dissent=5.0,
        most=0.3,
    ),
)
MAIL_DOMAIN = Key(
    where=Phrase("from the same mail domain"),
    track_record=lambda h: h.email_domain,
    min_decisions=2.1,
    dissent=5.0,
    most=0.6,
)
TARGET = Key(where=Phrase("with a link to the same domain"), track_record=lambda h: h.domains)
COPY = Key(where=Phrase("of nearly the same words"), track_record=lambda h: h.content)


def rejected_before(comment: Comment, history: History, keys: Sequence[Key]) -> Observation | None:
    """Return the observation that decisions under one of the keys lean to rejecting, if they do.

    Of several keys the one speaks whose decisions lean clearest.
    """
    leanings = [_to_reject(key, key.track_record(history)) for key in keys]
    return _clearest(leanings, _REJECTED[comment.edit is not None])


def approved_before(comment: Comment, history: History, keys: Sequence[Key]) -> Observation | None:
    """Return the observation that decisions under one of the keys lean to approving, if they do."""
    leanings = [_to_approve(key, key.track_record(history)) for key in keys]
    return _clearest(leanings, _APPROVED[comment.edit is not None])


def is_known(history: History) -> bool:
    """Return True if the person's e-mail or account has decisions: they outrank neighbours'."""
    return any(
        _decisions(key.track_record(history).everywhere) >= key.min_decisions
        for key in (EMAIL, ACCOUNT)
    )


def is_regular(history: History) -> bool:
    """Return True if moderators mostly approve comments of the person's e-mail or account."""
    return any(
        _to_approve(key, key.track_record(history)).lean > 0.0
        for key in (TRUSTED_EMAIL, TRUSTED_ACCOUNT)
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


def _to_reject(key: Key, track_record: TrackRecord) -> Leaning:
    here, everywhere = track_record.here, track_record.everywhere
    return _leaning(
        key,
        agreeing=_own_first(here.rejected, everywhere.rejected),
        contrary=_own_first(here.approved, everywhere.approved),
        count=everywhere.rejected,
        decisions=_decisions(everywhere),
    )


def _to_approve(key: Key, track_record: TrackRecord) -> Leaning:
    here, everywhere = track_record.here, track_record.everywhere
    return _leaning(
        key,
        agreeing=_own_first(here.approved, everywhere.approved),
        contrary=_own_first(here.rejected, everywhere.rejected),
        count=everywhere.approved,
        decisions=_decisions(everywhere),
    )


def _leaning(
    key: Key, *, agreeing: float, contrary: float, count: float, decisions: float
) -> Leaning:
    if decisions < key.min_decisions:
        return Leaning(lean=0.0, count=count, where=key.where)
    lean = squashed_log_odds(agreeing, key.dissent * contrary, key.prior)
    return Leaning(lean=min(key.most, lean), count=count, where=key.where)


def _own_first(here: float, everywhere: float) -> float:
    """Return decisions in worth of own ones; `everywhere` includes the own site's."""
    return here + _ELSEWHERE * max(0.0, everywhere - here)


def _clearest(leanings: Sequence[Leaning], said: tuple[str, str]) -> Observation | None:
    clearest = max(leanings, key=lambda one: one.lean)
    if clearest.lean <= 0.0:
        return None
    # They fade, and nobody counts parts of comments.
    n, (one, many) = round(clearest.count), said
    reason = (
        Phrase(one, where=clearest.where) if n <= 1 else Phrase(many, n=n, where=clearest.where)
    )
    return Observation(strength=clearest.lean, reason=reason)


def _of_offers(offered: TrackRecord, all_of_it: TrackRecord) -> TrackRecord:
    return TrackRecord(
        here=replace(offered.here, rejected=all_of_it.here.rejected),
        everywhere=replace(offered.everywhere, rejected=all_of_it.everywhere.rejected),
    )


def _decisions(record: Record) -> float:
    return record.approved + record.rejected
