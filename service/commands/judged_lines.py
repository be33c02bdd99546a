"""Judges lines of a data file in batches, by the code that the worker calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from service.commands.dataset_files import BrokenLine, DatasetLine
from service.domain.errors import Problem
from service.domain.history import History
from service.domain.verdict import Span, Verdict
from service.moderation.judging.judgement import judge_comments
from service.ports.clock import Clock
from service.ports.models import JudgingModel


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLine:
    """A line and the verdict on its comment."""

    line: DatasetLine
    verdict: Verdict


def judge_lines(
    lines: Iterable[DatasetLine | BrokenLine],
    model: JudgingModel,
    *,
    batch_size: int,
    clock: Clock,
) -> Iterator[JudgedLine | BrokenLine]:
    """Yield every line judged, in order, holding one batch at a time.

    Senders are unknown to every moderator here, so each history is empty. A comment that cannot
    be judged becomes a broken line and takes no other one with it.
    """
    batch: list[DatasetLine] = []
    for line in lines:
        if isinstance(line, BrokenLine):
            yield from _judge(batch, model, clock)
            batch = []
            yield line
            continue
        batch.append(line)
        if len(batch) == batch_size:
            yield from _judge(batch, model, clock)
            batch = []
    yield from _judge(batch, model, clock)


def verdict_to_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as one line of `scores.jsonl`."""
    return {
        "id": verdict.comment_id,
        "p_spam": verdict.p_spam,
        "model_p_spam": verdict.model_p_spam,
        "score": verdict.score,
        "outcome": verdict.outcome.value,
        "degraded": verdict.degraded,
        "signals": [
            {
                "name": part.signal.name,
                "strength": part.signal.strength,
                "weight": part.weight,
                "contribution": part.contribution,
                "weight_kind": part.kind,
                "reason": part.signal.reason,
                "spans": _pairs(part.signal.spans),
                "boundaries": list(part.signal.boundaries),
            }
            for part in verdict.signals
        ],
        "spans": _pairs(verdict.promo_spans),
        "model_version": verdict.model_version,
    }


def _pairs(spans: Iterable[Span]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]


def _judge(
    batch: list[DatasetLine], model: JudgingModel, clock: Clock
) -> Iterator[JudgedLine | BrokenLine]:
    if not batch:
        return
    try:
        verdicts = _verdicts(batch, model, clock)
    except Exception as error:  # noqa: BLE001  # whatever one comment provokes, others go on
        if len(batch) > 1:
            for line in batch:
                yield from _judge([line], model, clock)
            return
        # Only the error's type: its message could carry the comment's text.
        problem = Problem(
            field="text",
            problem=f"could not be judged ({type(error).__name__})",
            remedy="this is a fault of Slopsieve; please report it",
        )
        yield BrokenLine(number=batch[0].number, problems=(problem,))
        return
    for line, verdict in zip(batch, verdicts, strict=True):
        yield JudgedLine(line=line, verdict=verdict)


def _verdicts(batch: list[DatasetLine], model: JudgingModel, clock: Clock) -> list[Verdict]:
    comments = [line.comment for line in batch]
    histories = [History()] * len(comments)
    return judge_comments(comments, model, histories=histories, now=clock())
