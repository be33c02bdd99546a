"""Forms what another model version would have concluded, from the evidence a verdict recorded."""

from __future__ import annotations

from datetime import datetime

from models.inputs import ModelOutput
from service.domain.comment import Comment
from service.domain.shadow_verdict import Origin, ShadowVerdict
from service.domain.verdict import Signal, Verdict, WeightKind
from service.scoring.conclude import conclude
from service.scoring.holding import HELD_BACK
from service.scoring.inputs import counting_output
from service.scoring.lean import SITE_DECISIONS, add_lean, recorded_lean
from service.scoring.model_signals import LLM_VOICE
from service.scoring.seam import PROMOTION_SEAM, place_seam
from service.scoring.weighing import LearntWeight
from service.scoring.weights import Cutoffs, Weights

# What the classifier that judged saw besides spam; another classifier sees for itself.
_OF_THE_CLASSIFIER = frozenset({LLM_VOICE, PROMOTION_SEAM})
_ADDED_LATER = _OF_THE_CLASSIFIER | {SITE_DECISIONS, HELD_BACK}


def form_shadow_verdict(
    comment: Comment,
    verdict: Verdict,
    *,
    output: ModelOutput,
    model_version: str,
    weights: Weights,
    cutoffs: Cutoffs,
    origin: Origin,
    formed_at: datetime,
) -> ShadowVerdict:
    """Return what a version with these weights and cutoffs makes of a verdict's evidence.

    `output` is its own classifier's answer. Signals and strengths are those recorded, histories'
    among them: as they were then, never as they would be today. What was missing then is missing
    still, and makes the shadow verdict unsure; only a classifier that was away is made good. What
    moderators allow and block is left aside: it says nothing of a version.

    The shadow verdict of the very version that judged, at the cutoffs it judged by, is the verdict,
    unless that followed an entry or its classifier was away.
    """
    output = counting_output(comment, output)
    found = conclude(
        comment.id,
        signals=_evidence(comment, verdict, output, weights),
        output=output,
        missing=[part for part in verdict.degraded_by if part != "model"],
        model_version=model_version,
        weights=weights,
        cutoffs=cutoffs,
        judged_at=formed_at,
        learnt=_Recorded(verdict),
    )
    # What decisions taught is beside every version, and was what it was.
    concluded = found if found.degraded else add_lean(found, recorded_lean(verdict), cutoffs)
    return ShadowVerdict(
        comment_id=comment.id,
        model_version=model_version,
        origin=origin,
        outcome=concluded.outcome,
        p_spam=concluded.p_spam,
        formed_at=formed_at,
    )


class _Recorded:
    """The weights that decisions had moved by the time of a verdict; see `LearntHere`."""

    def __init__(self, verdict: Verdict) -> None:
        self._weights = {
            one.signal.name: LearntWeight(one.weight, one.decisions)
            for one in verdict.signals
            if one.kind is WeightKind.LEARNT
        }

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:  # as it was then
        return self._weights.get(name)


def _evidence(
    comment: Comment, verdict: Verdict, output: ModelOutput, weights: Weights
) -> tuple[Signal, ...]:
    seen = tuple(one.signal for one in verdict.signals if one.signal.name not in _ADDED_LATER)
    # Placing a seam takes as long as all detectors, and no version weighs it so far. What
    # it moves besides, the place of `abrupt_shift`, has no part in the score.
    return place_seam(comment, seen, output) if weights.of(PROMOTION_SEAM) else seen
