"""Holds back what stands beside the words, so that it alone takes nobody's comment to spam.

Four rules, for evidence whose weight was set or learnt here (`SET_WEIGHTS`):

- It counts nothing against a sender with a good record here, save that moderators rejected nearly
  the same words or a link to the same domain.
- A comment that its content makes ham goes no further than unsure, whatever is beside it.
- One that its content leaves unsure is spam only if two families of evidence speak against it, each
  by 0.3 at least, or one whose weight enough decisions of this installation have borne out. Pieces
  of one family err together: a browser that fills hidden fields is also fast, an office shares its
  address.
- An edit of a comment that a moderator rejected is no ham, whatever it says: a moderator looks. So
  they do at a pitch by an account that advertises, and at text that nobody sees, until their
  decisions took its weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from service.domain.phrase import Phrase
from service.domain.verdict import Outcome, Signal, WeighedSignal, WeightKind
from service.scoring.set_weights import SET_WEIGHTS, Family

HELD_BACK = "held_back"
_REJECTED = "rejected_before_edit"
# In the table's order, by which the first says why.
_WAITS = {name: one.waits for name, one in SET_WEIGHTS.items() if one.waits}
# Six approvals here without a rejection, or twelve at the installation's other sites.
_GOOD_RECORD = 0.6
# So many decisions make a learnt weight a measurement: its own, no longer the prior's.
_BORNE_OUT = 20
# A family that says less agrees with no other: an old list or a weak burst says hardly anything.
_LEAST_AGREEING = 0.3
# A comment is held so far below the cutoff; where content lies closer, the sum's rounding must not
# carry it over.
_MARGIN = 0.01
_ROUNDING = 1e-9


def hold_back(
    content: float,
    weighed: Sequence[WeighedSignal],
    *,
    called: Outcome,
    ham_below: float,
    spam_from: float,
) -> WeighedSignal | None:
    """Return what is to be taken off the score again as a line of its own, None for nothing.

    `content` is the score of all but what stands beside the words, `called` what that alone would
    be called, `weighed` everything. Scores are log-odds. What waits for a moderator is raised.
    """
    beside = [one for one in weighed if is_beside(one)]
    against = [one for one in beside if one.contribution > 0.0]
    silenced = [one for one in against if _has_good_record(weighed) and _yields(one)]
    counting = [one for one in against if one not in silenced]
    taken = _sum(silenced)
    if called is Outcome.HAM or (called is Outcome.UNSURE and not _agree(counting)):
        over = content + _sum(beside) - taken - (spam_from - _MARGIN)
        taken += min(max(over, 0.0), _sum(counting) + _ROUNDING)
    reason = (
        Phrase(
            "has a sender whose approved comments count for more than what stands beside the words"
        )
        if silenced
        else Phrase("is not called spam by what stands beside the words alone")
    )
    # Where nothing lies between the cutoffs there is nothing to leave to anybody.
    least = ham_below + _ROUNDING
    short = least - (content + _sum(beside) - taken)
    waiting = [one.signal.name for one in beside if _waits(one)]
    if waiting and least < spam_from - _ROUNDING and short > 0.0:
        taken -= short
        reason = next(why for name, why in _WAITS.items() if name in waiting)
    if not taken:
        return None
    return WeighedSignal(
        signal=Signal(name=HELD_BACK, strength=1.0, reason=reason),
        weight=-taken,
        contribution=-taken,
        kind=WeightKind.SET,
    )


def is_beside(weighed: WeighedSignal) -> bool:
    """Return True if a signal's weight is set or learnt here, not fitted with the version."""
    return weighed.signal.name in SET_WEIGHTS and weighed.kind in (
        WeightKind.SET,
        WeightKind.LEARNT,
    )


def _agree(counting: Sequence[WeighedSignal]) -> bool:
    says: dict[Family, float] = {}
    for one in counting:
        family = SET_WEIGHTS[one.signal.name].family
        says[family] = says.get(family, 0.0) + one.contribution
    agreeing = [family for family, said in says.items() if said >= _LEAST_AGREEING]
    return len(agreeing) > 1 or any(one.decisions >= _BORNE_OUT for one in counting)


def _has_good_record(weighed: Sequence[WeighedSignal]) -> bool:
    return any(
        one.signal.name == "approved_person_before" and one.signal.strength >= _GOOD_RECORD
        for one in weighed
    )


def _yields(one: WeighedSignal) -> bool:
    return SET_WEIGHTS[one.signal.name].yields


def _waits(one: WeighedSignal) -> bool:
    name = one.signal.name
    return name == _REJECTED or (name in _WAITS and one.contribution >= _LEAST_AGREEING)


def _sum(some: Iterable[WeighedSignal]) -> float:
    return math.fsum(one.contribution for one in some)
