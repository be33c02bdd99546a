"""Selects and weighs the decisions to learn from, and holds out others for comparisons."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.features import hash_words
from service.domain.comment import CommentId
from service.domain.verdict import Outcome
from service.learning.features import DecisionSource, Features, TrainingExample, copy_keys
from service.learning.trust import TRUSTED, Ledger, outlier_teachers, record_teachers
from service.scoring.conclude import logit
from training.data.decisions import Decided, Via

_SOURCE_OF = {
    Via.IMPORT: DecisionSource.IMPORT,
    Via.REPORT: DecisionSource.REPORT,
    Via.API: DecisionSource.SITE,
}
_NO_FEATURES = (np.zeros(0, dtype=np.uint32), np.zeros(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A decision to learn from, and its weight in (0, 1]."""

    decided: Decided
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """`taught` decisions are learnt, `held` ones only compared; `left_out` counts the rest."""

    taught: Sequence[Weighed]
    held: Sequence[Decided]
    left_out: Counter[str]


def split_decisions(decisions: Sequence[Decided], *, held_share: float) -> Split:
    """Return the taught and the held decisions, given all in the order of their dates.

    The newest `held_share` are held, so that neither version has learnt them, and near-copies of
    them are not taught. The others are weighed by `service.learning.trust`, as in learning at once:
    near-copies, days and newcomers are limited, and a reviewer who contradicts confident verdicts
    too often teaches nothing. No decision that contradicts an owner's on the same words is taught.
    """
    examples = [_example(number, one) for number, one in enumerate(decisions)]
    first_held = len(decisions) - round(held_share * len(decisions))
    held = decisions[first_held:]
    copies = {key for one in examples[first_held:] for key in one.features.copies}
    settled = {
        (_words(one), not one.example.is_spam)
        for one, example in zip(decisions, examples, strict=True)
        if example.source in TRUSTED
    }
    outliers = outlier_teachers(record_teachers(examples[:first_held]))
    ledger, left_out, taught = Ledger(), Counter[str](), []
    for one, example in zip(decisions[:first_held], examples, strict=False):
        weight = ledger.weigh(example)
        if copies.intersection(example.features.copies):
            left_out["near-copies of comments that are kept to compare by"] += 1
        elif example.source not in TRUSTED and (_words(one), one.example.is_spam) in settled:
            left_out["decided otherwise by an owner"] += 1
        elif example.teacher in outliers:
            left_out["decided by somebody who contradicts confident verdicts too often"] += 1
        elif not weight:
            left_out["near-copies, or too many by one hand on a day"] += 1
        else:
            taught.append(Weighed(decided=one, weight=weight))
    return Split(taught=taught, held=held, left_out=left_out)


def _words(one: Decided) -> str:
    return " ".join(one.example.comment.text.casefold().split())


def _example(number: int, one: Decided) -> TrainingExample:
    """Return a decision in the form of `service.learning.trust`."""
    made, verdict = one.in_force, one.verdict
    source = (
        DecisionSource.OWNER if made.is_owner else _SOURCE_OF.get(made.via, DecisionSource.ACCOUNT)
    )
    ids, values = _NO_FEATURES
    return TrainingExample(
        number=number,
        decision_id=one.id,
        comment_id=CommentId(one.id),
        site_id=one.example.comment.site_id,
        is_spam=one.example.is_spam,
        source=source,
        teacher=f"{source}: {made.reviewer}",
        day=made.made_at.toordinal(),
        features=Features(
            ids=ids, values=values, copies=copy_keys(hash_words(one.example.comment.text))
        ),
        frozen=logit(verdict.p_spam) if verdict else 0.0,
        confident=verdict is not None and verdict.outcome is not Outcome.UNSURE,
        drawn=one.weight if one.is_drawn else 0.0,
    )
