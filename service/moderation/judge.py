"""Judges comments: gathers the evidence, concludes, and stores each verdict once."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from datetime import datetime

from models.inputs import ModelOutput
from service.domain.case import Case
from service.domain.comment import Comment, CommentId
from service.domain.errors import (
    HistoryBlankError,
    ModelUnavailableError,
    StoreUnavailableError,
)
from service.domain.history import History
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, Verdict
from service.moderation.announce import wake_deliverers, write_verdict_messages
from service.moderation.rebuild import gather_whole
from service.ports import Attempt, JudgingModel, Services
from service.scoring.conclude import conclude
from service.scoring.inputs import model_input
from service.scoring.seam import place_seam
from service.scoring.weights import Cutoffs
from service.signals.registry import detect_all

log = logging.getLogger(__name__)

# A comment whose judging began this often without ending in a verdict has probably taken the
# worker down with it; it goes to a person without being tried again.
MAX_ATTEMPTS = 3


def judge_comments(
    comments: Sequence[Comment],
    model: JudgingModel,
    *,
    histories: Sequence[History] | None,
    now: datetime,
    settings: Sequence[SiteSettings] | None = None,
) -> list[Verdict]:
    """Return a verdict a comment, in order: one call of the classifier for all of them.

    `histories` None means that they could not be fetched, and `ModelUnavailableError` from the
    classifier that it could not answer: either way the verdicts are degraded. Any other
    exception is the caller's to split the batch by.
    """
    outputs = _classify(comments, model)
    missing = () if histories is not None else ("history",)
    verdicts = []
    for index, comment in enumerate(comments):
        history = histories[index] if histories is not None else History()
        cutoffs = _cutoffs(settings[index], model.cutoffs) if settings else model.cutoffs
        verdict = conclude(
            comment.id,
            signals=place_seam(comment, detect_all(comment, history), outputs[index]),
            output=outputs[index],
            missing=missing,
            model_version=model.version,
            weights=model.weights,
            cutoffs=cutoffs,
            judged_at=now,
        )
        verdicts.append(verdict)
    return verdicts


def judge_batch(ids: Sequence[CommentId], services: Services) -> list[CommentId]:
    """Judge those of `ids` that have no verdict yet; return whose verdict was stored now.

    Comments that were tried before are judged one by one, so that one that crashes its worker
    takes no other down a second time, and after `MAX_ATTEMPTS` it goes to a person untried.
    Raises `StoreUnavailableError`; the whole call can safely be repeated.
    """
    attempts = services.comments.load_unjudged(ids)
    fresh = [a for a in attempts if a.attempts == 0]
    stored = _try_batch(fresh, services) if fresh else []
    for attempt in attempts:
        if attempt.attempts >= MAX_ATTEMPTS:
            stored += _give_up(attempt, services)
        elif attempt.attempts > 0:
            stored += _try_batch([attempt], services)
    return stored


def is_audited(comment_id: CommentId, share: float) -> bool:
    """Say whether a comment belongs to the audit sample: a fixed, unpredictable-looking draw."""
    digest = hashlib.sha256(f"audit:{comment_id}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def _try_batch(attempts: Sequence[Attempt], services: Services) -> list[CommentId]:
    services.comments.count_attempt([a.comment.id for a in attempts])
    histories = _gather([a.comment for a in attempts], services)
    model = services.current_model()
    verdicts = _judge_or_split(attempts, histories, model, services.clock())
    return _store(verdicts, attempts, services)


def _judge_or_split(
    attempts: Sequence[Attempt],
    histories: Sequence[History] | None,
    model: JudgingModel,
    now: datetime,
) -> list[Verdict]:
    """Judge a batch; where that raises, halve it until the poisonous comment is alone."""
    try:
        return judge_comments(
            [a.comment for a in attempts],
            model,
            histories=histories,
            now=now,
            settings=[a.settings for a in attempts],
        )
    except Exception as error:  # noqa: BLE001  # whatever one comment provokes, others go on
        if len(attempts) == 1:
            log.error(  # noqa: TRY400  # a traceback could carry the comment's text
                "judging failed, the comment goes to a person",
                extra={"comment_id": attempts[0].comment.id, "error": type(error).__name__},
            )
            return [_unjudgeable(attempts[0], model, now)]
    half = len(attempts) // 2
    verdicts: list[Verdict] = []
    for part in (slice(None, half), slice(half, None)):
        some = histories[part] if histories is not None else None
        verdicts += _judge_or_split(attempts[part], some, model, now)
    return verdicts


def _unjudgeable(attempt: Attempt, model: JudgingModel, now: datetime) -> Verdict:
    return conclude(
        attempt.comment.id,
        signals=(),
        output=None,
        missing=("detectors", "judging"),
        model_version=model.version,
        weights=model.weights,
        cutoffs=_cutoffs(attempt.settings, model.cutoffs),
        judged_at=now,
    )


def _give_up(attempt: Attempt, services: Services) -> list[CommentId]:
    log.error(
        "judging never ended, the comment goes to a person",
        extra={"comment_id": attempt.comment.id, "attempts": attempt.attempts},
    )
    verdict = _unjudgeable(attempt, services.current_model(), services.clock())
    return _store([verdict], [attempt], services)


def _classify(comments: Sequence[Comment], model: JudgingModel) -> Sequence[ModelOutput | None]:
    try:
        return model.classifier.score_batch([model_input(c) for c in comments])
    except ModelUnavailableError:
        log.warning("the classifier is away, verdicts are degraded")
        return [None] * len(comments)


def _gather(comments: Sequence[Comment], services: Services) -> Sequence[History] | None:
    try:
        return gather_whole(comments, services)
    except HistoryBlankError:
        log.warning("histories are being filled again, verdicts are degraded")
    except StoreUnavailableError:
        log.warning("histories are away, verdicts are degraded", extra={"comments": len(comments)})
    return None


def _cutoffs(settings: SiteSettings, promised: Cutoffs) -> Cutoffs:
    """Return the site's cutoffs; one it left open follows the promised one, never crossing."""
    ham = settings.ham_cutoff if settings.ham_cutoff is not None else promised.ham_cutoff
    spam = settings.spam_cutoff if settings.spam_cutoff is not None else promised.spam_cutoff
    if settings.spam_cutoff is None:
        spam = max(spam, ham)
    return Cutoffs(ham_cutoff=min(ham, spam), spam_cutoff=spam)


def _store(
    verdicts: Sequence[Verdict], attempts: Sequence[Attempt], services: Services
) -> list[CommentId]:
    audit = frozenset(
        v.comment_id
        for v in verdicts
        if v.outcome is not Outcome.UNSURE and is_audited(v.comment_id, services.audit_share)
    )
    attempted = {a.comment.id: a for a in attempts}
    cases = [_case(verdict, attempted[verdict.comment_id], audit) for verdict in verdicts]
    messages = write_verdict_messages(cases, services)
    stored = services.verdicts.add(verdicts, audit=audit, deliveries=messages)
    log.info("comments judged", extra={"stored": len(stored), "batch": len(verdicts)})
    if messages:
        wake_deliverers(services)
    return stored


def _case(verdict: Verdict, attempt: Attempt, audit: frozenset[CommentId]) -> Case:
    return Case(
        comment=attempt.comment,
        mode=attempt.settings.mode,
        verdict=verdict,
        audit=verdict.comment_id in audit,
    )
