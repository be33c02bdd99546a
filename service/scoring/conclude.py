"""Joins the evidence on one comment into its verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.list_entry import Instruction
from service.domain.verdict import Outcome, Signal, Span, Verdict, WeighedSignal
from service.scoring.holding import hold_back, is_beside
from service.scoring.policy import decide
from service.scoring.weighing import NOTHING_LEARNT, LearntHere, weigh_signal
from service.scoring.weights import Cutoffs, Weights

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
    learnt: LearntHere = NOTHING_LEARNT,
) -> Verdict:
    """Return the verdict. `output` None or anything in `missing` makes it degraded, hence unsure.

    `learnt` is what decisions made of the weights that are set. What these may not add is taken
    off again by a line of its own (`hold_back`).

    Otherwise the outcome follows the instruction, if there is one; the score never does.

    Signals are listed by the size of what they contributed, largest first; those without weight
    follow, by name. What the classifier sees besides spam is listed among them.
    """
    weighed = [_weigh(one, weights, learnt) for one in signals]
    model_contribution = weights.model * logit(output.p_spam) if output else 0.0
    score, weighed = sum_up(weights.base + model_contribution, weighed, cutoffs)
    p_spam = logistic(score)
    degraded_by = (*missing, *(() if output else ("model",)))
    outcome = decide(
        p_spam,
        cutoffs,
        degraded=bool(degraded_by),
        effect=instruction.effect if instruction else None,
    )
    # What is called ham nobody reviews, and a mark in it would only mislead.
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
    held = _held_back(start, lines, cutoffs) if any(map(is_beside, lines)) else None
    if held is not None:
        lines = sorted((*lines, held), key=_weightiest_first)
    for line in lines:
        start += line.contribution
    return start, lines


def _held_back(
    start: float, lines: Sequence[WeighedSignal], cutoffs: Cutoffs
) -> WeighedSignal | None:
    content = start
    for line in lines:
        content += 0.0 if is_beside(line) else line.contribution
    return hold_back(
        content,
        lines,
        called=decide(logistic(content), cutoffs, degraded=False),
        ham_below=logit(cutoffs.ham_cutoff),
        spam_from=logit(cutoffs.spam_cutoff),
    )


def _weightiest_first(one: WeighedSignal) -> tuple[float, str]:
    return -abs(one.contribution), one.signal.name


def _weigh(signal: Signal, weights: Weights, learnt: LearntHere) -> WeighedSignal:
    found = weigh_signal(signal.name, weights, learnt)
    return WeighedSignal(
        signal=signal,
        weight=found.weight,
        contribution=found.weight * signal.strength,
        kind=found.kind,
        decisions=found.decisions,
    )
