"""Joins the evidence on one comment into its verdict.

What stands beside the words, with a weight that was set or learnt here, is held back by four rules:

- It counts nothing against a sender with a good record here, save that moderators rejected nearly
  the same words or a link to the same domain.
- A comment that its content makes ham goes no further than unsure, whatever is beside it.
- One that its content leaves unsure is spam only if two families of evidence speak against it, each
  by 0.3 at least, or one whose weight enough decisions of this installation have borne out. Pieces
  of one family err together: a browser that fills hidden fields is also fast, an office shares its
  address.
- An edit of a comment that a moderator rejected is no ham, whatever it says: a moderator looks. So
  they do at a pitch by an account that advertises, at text that nobody sees, and at a plain
  advertisement by somebody without a good record, until their decisions took its weight.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.list_entry import Effect, Instruction
from service.domain.site import SiteSettings
from service.domain.text import Phrase
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal, WeightKind
from service.scoring.weights import SET_WEIGHTS, Cutoffs, Family, LearntHere, Weights, weigh_signal


def decide(
    p_spam: float, cutoffs: Cutoffs, *, degraded: bool, effect: Effect | None = None
) -> Outcome:
    """Return the outcome; partial evidence never settles a comment alone.

    `effect` is that of the moderators' entry that matched; it stands above the probability.
    """
    if degraded:
        return Outcome.UNSURE
    if effect is not None:
        return Outcome.HAM if effect is Effect.ALLOW else Outcome.SPAM
    if p_spam >= cutoffs.spam_cutoff:
        return Outcome.SPAM
    if p_spam < cutoffs.ham_cutoff:
        return Outcome.HAM
    return Outcome.UNSURE


def cutoffs_of(settings: SiteSettings, promised: Cutoffs) -> Cutoffs:
    """Return the site's cutoffs; one it left open follows the promised one, never crossing."""
    ham = settings.ham_cutoff if settings.ham_cutoff is not None else promised.ham_cutoff
    spam = settings.spam_cutoff if settings.spam_cutoff is not None else promised.spam_cutoff
    if settings.spam_cutoff is None:
        spam = max(spam, ham)
    return Cutoffs(ham_cutoff=min(ham, spam), spam_cutoff=spam)


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


def _hold_back(
    content: float, weighed: Sequence[WeighedSignal], cutoffs: Cutoffs
) -> WeighedSignal | None:
    """Return the correction of the score by the rules above, or None if there is none.

    `content` is the score of base and model, `weighed` all evidence. The score of a comment that
    waits for a moderator is raised.
    """
    for one in weighed:
        content += 0.0 if is_beside(one) else one.contribution
    called = decide(logistic(content), cutoffs, degraded=False)
    least, spam_from = logit(cutoffs.ham_cutoff) + _ROUNDING, logit(cutoffs.spam_cutoff)
    beside = [one for one in weighed if is_beside(one)]
    against = [one for one in beside if one.contribution > 0.0]
    has_good_record = any(
        one.signal.name == "approved_person_before" and one.signal.strength >= _GOOD_RECORD
        for one in weighed
    )
    silenced = [one for one in against if has_good_record and SET_WEIGHTS[one.signal.name].yields]
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
    short = least - (content + _sum(beside) - taken)
    waiting = [one.signal.name for one in beside if one not in silenced and _waits(one)]
    # With equal cutoffs no comment can be unsure.
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
    says: defaultdict[Family, float] = defaultdict(float)
    for one in counting:
        says[SET_WEIGHTS[one.signal.name].family] += one.contribution
    agreeing = [family for family, said in says.items() if said >= _LEAST_AGREEING]
    return len(agreeing) > 1 or any(one.decisions >= _BORNE_OUT for one in counting)


def _waits(one: WeighedSignal) -> bool:
    name = one.signal.name
    return name == _REJECTED or (name in _WAITS and one.contribution >= _LEAST_AGREEING)


def _sum(some: Iterable[WeighedSignal]) -> float:
    return math.fsum(one.contribution for one in some)


# A classifier that says 0 or 1 would outvote any evidence; this bounds it to about 13.8 log-odds.
_P_FLOOR = 1e-6


def logit(p: float) -> float:
    """Return the log-odds of a probability, which is first kept away from 0 and 1."""
    bounded = min(max(p, _P_FLOOR), 1 - _P_FLOOR)
    return math.log(bounded / (1 - bounded))


def logistic(log_odds: float) -> float:
    """Return the probability of a log-odds, without overflow at either end."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    odds = math.exp(log_odds)
    return odds / (1 + odds)


def without_text(weights: Weights, cutoffs: Cutoffs) -> Weights:
    """Return the weights for a comment without text: base and classifier are fitted to texts."""
    # It is unsure. A reaction (-1.5) makes it ham, by more than a weak list (0.3) takes back.
    ham_cutoff, spam_cutoff = logit(cutoffs.ham_cutoff), logit(cutoffs.spam_cutoff)
    # With equal cutoffs nothing is unsure: the record of a reaction's source alone decides.
    start = max(min(ham_cutoff + 1.1, spam_cutoff - _MARGIN), ham_cutoff)
    return replace(weights, base=start, model=0.0)


def conclude(
    comment_id: CommentId,
    *,
    signals: Sequence[Signal],
    output: ModelOutput | None,
    missing: Sequence[str] = (),
    model_version: str,
    weights: Weights,
    cutoffs: Cutoffs,
    judged_at: datetime,
    instruction: Instruction | None = None,
    learnt: LearntHere | None = None,
) -> Verdict:
    """Return the verdict. `output` None or anything in `missing` makes it degraded, hence unsure.

    `learnt` has the set weights after this installation's decisions; what they add is limited.

    Otherwise the outcome follows the instruction, if there is one; the score never does.

    Signals are listed by the size of what they contributed, largest first; those without weight
    follow, by name. What the classifier sees besides spam is listed among them.
    """
    weighed = []
    for one in signals:
        weighing = weigh_signal(one.name, weights, learnt)
        contribution = weighing.weight * one.strength
        weighed.append(WeighedSignal(signal=one, contribution=contribution, **weighing._asdict()))
    model_contribution = weights.model * logit(output.p_spam) if output and weights.model else 0.0
    score, weighed = sum_up(weights.base + model_contribution, weighed, cutoffs)
    p_spam = logistic(score)
    degraded_by = (*missing, *(() if output else ("model",)))
    outcome = decide(
        p_spam,
        cutoffs,
        degraded=bool(degraded_by),
        effect=instruction.effect if instruction else None,
    )
    # Nobody reviews ham, and a mark in it would only mislead.
    marked = output.promo_spans if output and outcome is not Outcome.HAM else ()
    return Verdict(
        comment_id=comment_id,
        outcome=outcome,
        p_spam=p_spam,
        score=score,
        base=weights.base,
        model_p_spam=output.p_spam if output else None,
        model_contribution=model_contribution,
        signals=tuple(weighed),
        promo_spans=tuple(Span(start=a, end=b) for a, b in marked),
        model_version=model_version,
        ham_cutoff=cutoffs.ham_cutoff,
        spam_cutoff=cutoffs.spam_cutoff,
        judged_at=judged_at,
        degraded_by=degraded_by,
        instruction=instruction,
    )


def sum_up(
    start: float, weighed: Sequence[WeighedSignal], cutoffs: Cutoffs
) -> tuple[float, list[WeighedSignal]]:
    """Return the score and the signals in the order in which they add up to it exactly.

    `start` is base and model, `weighed` all signals but the line that holds some back.
    """
    lines = sorted(weighed, key=_weightiest_first)
    held = _hold_back(start, lines, cutoffs) if any(map(is_beside, lines)) else None
    if held is not None:
        lines = sorted((*lines, held), key=_weightiest_first)
    for line in lines:
        start += line.contribution
    return start, lines


def _weightiest_first(one: WeighedSignal) -> tuple[float, str]:
    return -abs(one.contribution), one.signal.name
