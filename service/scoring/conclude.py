"""Joins the evidence on one comment into its verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.list_entry import Instruction
from service.domain.verdict import Signal, Span, Verdict, WeighedSignal
from service.scoring.model_signals import model_signals
from service.scoring.policy import decide
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
) -> Verdict:
    """Return the verdict. `output` None or anything in `missing` makes it degraded, hence unsure.

    Otherwise the outcome follows the instruction, if there is one; the score never does.

    Signals are listed by the size of what they contributed, largest first; those without weight
    follow, by name. What the classifier sees besides spam is listed among them.
    """
    weighed = [
        WeighedSignal(
            signal=signal,
            weight=weights.of(signal.name),
            contribution=weights.of(signal.name) * signal.strength,
        )
        for signal in (*signals, *model_signals(output))
    ]
    weighed.sort(key=lambda w: (-abs(w.contribution), w.signal.name))
    model_contribution = weights.model * logit(output.p_spam) if output else 0.0
    score = weights.base + model_contribution
    for part in weighed:
        score += part.contribution
    p_spam = logistic(score)
    degraded_by = (*missing, *(() if output else ("model",)))
    return Verdict(
        comment_id=comment_id,
        outcome=decide(
            p_spam,
            cutoffs,
            degraded=bool(degraded_by),
            effect=instruction.effect if instruction else None,
        ),
        p_spam=p_spam,
        score=score,
        base=weights.base,
        model_p_spam=output.p_spam if output else None,
        model_contribution=model_contribution,
        signals=tuple(weighed),
        promo_spans=tuple(Span(start=a, end=b) for a, b in output.promo_spans) if output else (),
        model_version=model_version,
        ham_cutoff=cutoffs.ham_cutoff,
        spam_cutoff=cutoffs.spam_cutoff,
        judged_at=judged_at,
        degraded_by=degraded_by,
        instruction=instruction,
    )
