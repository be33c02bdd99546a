"""Judges comments in memory: detectors and classifier, weights, cutoffs. It asks no store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

from models.inputs import ModelOutput
from service.domain.comment import Comment
from service.domain.errors import ModelUnavailableError
from service.domain.history import History
from service.domain.rules import RuleFacts
from service.domain.site import SiteSettings
from service.domain.stage import Stage
from service.domain.verdict import Verdict
from service.learning.evidence import LearntForComment, LocalEvidence, with_learnt_lists
from service.learning.judging import lean_on
from service.learning.taught import Taught
from service.ports.models import JudgingModel
from service.scoring.classifier import counting_output, model_input, place_seam
from service.scoring.conclude import conclude, cutoffs_of
from service.scoring.rules import apply_rules
from service.signals.detectors import detect_all
from service.signals.entry_book import EntryBook
from service.signals.judged_text import judged_text
from service.signals.text import is_visible

log = logging.getLogger(__name__)


class StageTimer:
    """Adds the time since the last stage's end to the stage that ends now.

    `monotonic` returns the seconds of a clock that never goes back; without one nothing takes time.
    """

    def __init__(self, monotonic: Callable[[], float] = lambda: 0.0) -> None:
        self._monotonic = monotonic
        self._last = monotonic()
        self.seconds: dict[Stage, float] = {}

    def end(self, stage: Stage) -> None:
        """End this stage, or a part of it."""
        now = self._monotonic()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def judge_comments(
    comments: Sequence[Comment],
    model: JudgingModel,
    *,
    histories: Sequence[History] | None,
    now: datetime,
    taught: Taught | None = None,
) -> list[Verdict]:
    """Return a verdict a comment, in order, as of sites without settings or entries of their own.

    See `judge_with_outputs`.
    """
    judged = judge_with_outputs(comments, model, histories=histories, now=now, taught=taught)
    return [one.verdict for one in judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict with what the classifier answered for it, None if it was away."""

    verdict: Verdict
    output: ModelOutput | None = None
    history: History = field(default_factory=History)


def judge_with_outputs(
    comments: Sequence[Comment],
    model: JudgingModel,
    *,
    histories: Sequence[History] | None,
    now: datetime,
    settings: Sequence[SiteSettings] | None = None,
    book: EntryBook | None = None,
    taught: Taught | None = None,
    timer: StageTimer | None = None,
    facts: Sequence[RuleFacts] = (),
) -> list[Judged]:
    """Return a verdict a comment, in order: one call of the classifier for all of them.

    `histories` None means that they could not be fetched, and `ModelUnavailableError` from the
    classifier that it could not answer: either way the verdicts are degraded. `book` is what
    moderators allow and block, `taught` what decisions taught; without them, as in every
    evaluation, the version's evidence alone decides. With `facts`, one a comment, the rules of
    `settings` hold what they hold. Any other exception is the caller's to split the batch by.
    """
    timer = timer or StageTimer()
    listed, comments = comments, [judged_text(comment) for comment in comments]
    missing = () if histories is not None else ("history",)
    histories = histories if histories is not None else [History()] * len(comments)
    learns = [one.learns for one in settings] if settings else [True] * len(comments)
    evidence = [taught.evidence if taught and some else LocalEvidence() for some in learns]
    sent = [with_learnt_lists(*both) for both in zip(comments, evidence, strict=True)]
    # The network needs no Python for most of its time: meanwhile the detectors look.
    with ThreadPoolExecutor(1) as beside:
        classifying = beside.submit(_classify, comments, model)
        seen, entries = [], []
        for whole, heard, history in zip(listed, sent, histories, strict=True):
            seen.append(detect_all(heard, history))
            # At once after the detectors, whose view of the text the book shares.
            entries.append(book.find(whole, at=now) if book else None)
        timer.end(Stage.DETECT)
        outputs = classifying.result()
    timer.end(Stage.CLASSIFY)
    judged = []
    for index, comment in enumerate(comments):
        cutoffs = cutoffs_of(settings[index], model.cutoffs) if settings else model.cutoffs
        signals = place_seam(comment, seen[index], outputs[index])
        entry = entries[index]
        verdict = conclude(
            comment.id,
            signals=signals,
            output=outputs[index],
            # A reaction needs no words.
            missing=missing if comment.kind or is_visible(comment.text) else (*missing, "text"),
            model_version=model.version,
            weights=model.weights,
            cutoffs=cutoffs,
            judged_at=now,
            instruction=entry.instruction if entry else None,
            learnt=LearntForComment(sent[index], evidence[index]),
        )
        output = outputs[index]
        if taught is not None:
            verdict = lean_on(
                verdict,
                comment,
                taught,
                word_hashes=output.word_hashes if output else None,
                promised=model.cutoffs,
                settings=settings[index] if settings else None,
            )
        if settings and facts:
            rules = settings[index].rules
            verdict = apply_rules(verdict, listed[index], rules, facts[index])
        judged.append(Judged(verdict=verdict, output=output, history=histories[index]))
        timer.end(Stage.CONCLUDE)
    return judged


def _classify(comments: Sequence[Comment], model: JudgingModel) -> Sequence[ModelOutput | None]:
    try:
        outputs = model.classifier.score_batch([model_input(c) for c in comments])
        return [counting_output(*both) for both in zip(comments, outputs, strict=True)]
    except ModelUnavailableError:
        log.warning("the classifier is away, verdicts are degraded")
        return [None] * len(comments)
