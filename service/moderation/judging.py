"""Judges waiting comments and stores each verdict once; asks a second judge about unsure ones."""

import hashlib
import logging
import math
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from models.inputs import ModelOutput
from service.campaigns.traits import Traits, traits_of
from service.domain.case import Case
from service.domain.comment import Comment, CommentId
from service.domain.errors import HistoryBlankError, ModelUnavailableError, StoreUnavailableError
from service.domain.figures import Stage
from service.domain.rules import RuleFacts
from service.domain.sender import History
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, Verdict
from service.learning.evidence import LearntForComment, LocalEvidence, with_learnt_lists
from service.learning.judging import apply_residual
from service.learning.learned_state import LearnedState
from service.moderation.announcing import wake_deliverers, write_verdict_messages
from service.moderation.remembering import forget_erased, gather_whole
from service.ports.comments import Attempt
from service.ports.models import JudgingModel
from service.ports.observing import JudgedBatch
from service.ports.services import Services
from service.scoring.classifier import model_input, place_seam
from service.scoring.conclude import conclude, cutoffs_of, without_text
from service.scoring.rules import apply_rules
from service.signals.detectors import detect_all
from service.signals.judged_text import judged_text
from service.signals.list_entry_index import ListEntryIndex
from service.signals.text import is_visible

log = logging.getLogger(__name__)


class StageTimer:
    """Measures consecutive stages by a clock in seconds that never goes back."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.seconds: dict[Stage, float] = {}

    def end(self, stage: Stage) -> None:
        """End this stage or a part of it, which began when the last one ended."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def judge_comments(
    comments: Sequence[Comment],
    model: JudgingModel,
    *,
    histories: Sequence[History] | None,
    now: datetime,
    learned: LearnedState | None = None,
) -> list[Verdict]:
    """Return a verdict per comment, in order, for sites without settings or entries."""
    n = len(comments)
    judged = judge_with_outputs(
        comments,
        model,
        histories=histories,
        now=now,
        settings=[SiteSettings()] * n,
        facts=[RuleFacts()] * n,
        list_entries=ListEntryIndex(),
        learned=learned or LearnedState(),
        timer=StageTimer(),
    )
    return [one.verdict for one in judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict with the classifier's output, None if it was unavailable."""

    verdict: Verdict
    output: ModelOutput | None = None
    history: History = field(default_factory=History)


def judge_with_outputs(
    comments: Sequence[Comment],
    model: JudgingModel,
    *,
    histories: Sequence[History] | None,
    now: datetime,
    settings: Sequence[SiteSettings],
    facts: Sequence[RuleFacts],
    list_entries: ListEntryIndex,
    learned: LearnedState,
    timer: StageTimer,
) -> list[Judged]:
    """Return a verdict per comment, in order, with one call of the classifier.

    If `histories` is None or the classifier raises `ModelUnavailableError`, verdicts are degraded.
    `list_entries` has the moderators' lists, `learned` what decisions taught.
    """
    listed, comments = comments, [judged_text(comment) for comment in comments]
    missing = () if histories is not None else ("history",)
    histories = histories if histories is not None else [History()] * len(comments)
    evidence = [learned.evidence if one.learns else LocalEvidence() for one in settings]
    sent = [with_learnt_lists(*both) for both in zip(comments, evidence, strict=True)]
    # The network runs mostly without Python, so the detectors run meanwhile.
    with ThreadPoolExecutor(1) as beside:
        classifying = beside.submit(_classify, comments, model)
        seen, entries = [], []
        for whole, heard, history in zip(listed, sent, histories, strict=True):
            seen.append(detect_all(heard, history, whole))
            # Right after the detectors, whose view of the text the index uses.
            entries.append(list_entries.find(whole, at=now))
        timer.end(Stage.DETECT)
        outputs = classifying.result()
    timer.end(Stage.CLASSIFY)
    judged = []
    for index, comment in enumerate(comments):
        entry, output = entries[index], outputs[index]
        weights = model.weights
        if not comment.text.strip():
            here = learned.cutoffs(comment.site_id, model.cutoffs, frozen=math.inf)
            weights = without_text(weights, cutoffs_of(settings[index], here))
        verdict = conclude(
            comment.id,
            signals=place_seam(comment, seen[index], output),
            output=output,
            # A reaction has no text.
            missing=missing if comment.kind or is_visible(comment.text) else (*missing, "text"),
            model_version=model.version,
            weights=weights,
            cutoffs=cutoffs_of(settings[index], model.cutoffs),
            judged_at=now,
            instruction=entry.instruction if entry else None,
            learnt=LearntForComment(sent[index], evidence[index]),
        )
        verdict = apply_residual(
            verdict,
            comment,
            learned,
            word_hashes=output.word_hashes if output else None,
            promised=model.cutoffs,
            settings=settings[index],
        )
        verdict = apply_rules(verdict, listed[index], settings[index].rules, facts[index])
        judged.append(Judged(verdict=verdict, output=output, history=histories[index]))
        timer.end(Stage.CONCLUDE)
    return judged


def _classify(comments: Sequence[Comment], model: JudgingModel) -> Sequence[ModelOutput | None]:
    try:
        return model.classifier.score_batch([model_input(c) for c in comments])
    except ModelUnavailableError:
        log.warning("the classifier is away, verdicts are degraded")
        return [None] * len(comments)


# A comment whose judging began this often has probably crashed the worker: it goes to a person.
MAX_ATTEMPTS = 3
# After a single failure of a store that works again there is no need to wait for the sweep.
_TRIES_OF_ONE = 2
# The evidence that a comment lacks if it could not be judged.
_JUDGING = "judging"
# The pauses of the second judge after failures.
_FIRST_REST, _LONGEST_REST = timedelta(minutes=1), timedelta(hours=1)


def judge_batch(
    ids: Sequence[CommentId], services: Services, owed: dict[CommentId, int] | None = None
) -> list[CommentId]:
    """Judge those of `ids` that have no verdict yet; return the ids whose verdict was stored.

    Comments with an earlier attempt are judged one by one, and go to a person after `MAX_ATTEMPTS`.
    Raises `StoreUnavailableError` if the store accepts no verdict; the call can be repeated.
    `owed` belongs to the process: counts to reset, so that an outage does not count as an attempt.
    """
    owed = {} if owed is None else owed
    _reset_attempts(owed, [], services)
    # All reads before the first write are one transaction.
    with services.read_snapshot():
        attempts = services.comments.load_unjudged(ids)
        fresh = [a for a in attempts if a.attempts == 0]
        stored = _try_apart(fresh, services, owed) if fresh else []
        for attempt in attempts:
            if attempt.attempts >= MAX_ATTEMPTS:
                log.error(
                    "judging never ended, the comment goes to a person",
                    extra={"comment_id": attempt.comment.id, "attempts": attempt.attempts},
                )
                stored += _try_apart([attempt], services, owed, untried=True)
            elif attempt.attempts > 0:
                stored += _try_apart([attempt], services, owed)
    return stored


def _reset_attempts(
    owed: dict[CommentId, int], attempts: Sequence[Attempt], services: Services
) -> None:
    owed.update((a.comment.id, a.attempts) for a in attempts)
    if owed:
        services.comments.lower_attempts(owed)
        owed.clear()


def is_audited(comment_id: CommentId, share: float) -> bool:
    """Return True if the comment is in the audit sample (a pseudo-random draw by id)."""
    digest = hashlib.sha256(f"audit:{comment_id}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def _try_apart(
    attempts: Sequence[Attempt],
    services: Services,
    owed: dict[CommentId, int],
    *,
    untried: bool = False,
) -> list[CommentId]:
    """Judge a batch, or halve it until the failing comment is alone; `untried` go to a person."""
    for _ in range(_TRIES_OF_ONE if len(attempts) == 1 else 1):
        try:
            return _try_batch(attempts, services, untried=untried)
        except Exception as error:  # noqa: BLE001  # an error of one comment must not stop the others
            # Raises if the store accepts no writes: then no comment is the cause.
            _reset_attempts(owed, attempts, services)
            failure = error
    if len(attempts) > 1:
        half = len(attempts) // 2
        first = _try_apart(attempts[:half], services, owed)
        return first + _try_apart(attempts[half:], services, owed)
    told = {"comment_id": attempts[0].comment.id}
    if untried or isinstance(failure, StoreUnavailableError):
        log.error(
            "a verdict cannot be stored, the sweep will queue again", exc_info=failure, extra=told
        )
        return []
    log.error("judging failed, the comment goes to a person", exc_info=failure, extra=told)
    return _try_apart(attempts, services, owed, untried=True)


def _try_batch(
    attempts: Sequence[Attempt], services: Services, *, untried: bool
) -> list[CommentId]:
    timer = StageTimer()
    began = services.clock()
    comments = [a.comment for a in attempts]
    ids = [comment.id for comment in comments]
    list_entries = services.entries_in_force()
    if untried:
        services.comments.count_attempt(ids)
        judged = [_unjudgeable(attempt, services) for attempt in attempts]
    else:
        learned = services.learned()
        facts = services.verdicts.find_rule_facts([(a.comment, a.settings.rules) for a in attempts])
        services.comments.count_attempt(ids)
        histories = _gather(comments, services)
        forget_erased(comments, services)
        timer.end(Stage.GATHER)
        judged = judge_with_outputs(
            comments,
            services.current_model(),
            histories=histories,
            now=services.clock(),
            settings=[a.settings for a in attempts],
            list_entries=list_entries,
            learned=learned,
            timer=timer,
            facts=facts,
        )
    stored = _store(judged, attempts, services)
    timer.end(Stage.STORE)
    services.observer.judged(
        JudgedBatch(
            comments=comments,
            verdicts=[one.verdict for one in judged],
            stored=frozenset(stored),
            began=began,
            ended=services.clock(),
            seconds=timer.seconds,
        )
    )
    return stored


def _unjudgeable(attempt: Attempt, services: Services) -> Judged:
    model = services.current_model()
    verdict = conclude(
        attempt.comment.id,
        signals=(),
        output=None,
        missing=("detectors", _JUDGING),
        model_version=model.version,
        weights=model.weights,
        cutoffs=cutoffs_of(attempt.settings, model.cutoffs),
        judged_at=services.clock(),
    )
    return Judged(verdict=verdict)


def _gather(comments: Sequence[Comment], services: Services) -> Sequence[History] | None:
    try:
        return gather_whole(comments, services)
    except HistoryBlankError:
        log.warning("histories are being filled again, verdicts are degraded")
    except StoreUnavailableError:
        log.warning("histories are away, verdicts are degraded", extra={"comments": len(comments)})
    return None


def _store(
    judged: Sequence[Judged], attempts: Sequence[Attempt], services: Services
) -> list[CommentId]:
    verdicts = [one.verdict for one in judged]
    ids = [verdict.comment_id for verdict in verdicts]
    audit = frozenset(
        v.comment_id
        for v in verdicts
        if v.outcome is not Outcome.UNSURE and is_audited(v.comment_id, services.audit_share)
    )
    cases = [
        Case(
            comment=attempt.comment,
            mode=attempt.settings.mode,
            verdict=verdict,
            audit=verdict.comment_id in audit,
            explains_spam=attempt.settings.explains_spam,
        )
        for verdict, attempt in zip(verdicts, attempts, strict=True)
    ]
    endpoints = {a.comment.site_id: a.endpoint for a in attempts}
    messages = write_verdict_messages(cases, services, endpoints)
    traits = [_traits(*both) for both in zip(judged, attempts, strict=True)]
    stored = services.verdicts.add(
        verdicts,
        audit=audit,
        deliveries=messages,
        tell=lambda spoken_of: write_verdict_messages(spoken_of, services, endpoints),
        traits=[one for one in traits if one is not None],
    )
    stored_ids = frozenset(stored)
    # So that the log can be searched for a comment.
    for start in range(0, len(ids), 100):
        some = ids[start : start + 100]
        n_stored = len(stored_ids.intersection(some))
        extra = {"stored": n_stored, "batch": len(ids), "comment_ids": some}
        log.info("comments judged", extra=extra)
    followed = [one.followed for one in verdicts if one.comment_id in stored_ids]
    if hits := Counter(entry.entry_id for entry in followed if entry is not None):
        try:
            services.list_entries.count_hits(hits, at=services.clock())
        except StoreUnavailableError:
            log.warning("hits of list entries were not counted", extra={"entries": len(hits)})
    if messages:
        wake_deliverers(services)
    return stored


def _traits(judged: Judged, attempt: Attempt) -> Traits | None:
    """Return the traits for grouping, None for ham: readers who agree are no campaign.

    Nor for what a rule holds, or what could not be judged: its traits may be the cause.
    """
    verdict, output = judged.verdict, judged.output
    if verdict.outcome is Outcome.HAM or verdict.held_by or _JUDGING in verdict.degraded_by:
        return None
    try:
        return traits_of(
            judged_text(attempt.comment),
            embedding=output.embedding if output else None,
            space=verdict.model_version,
            p_spam=verdict.p_spam if output else None,
            blog=attempt.settings.blog,
            history=judged.history,
        )
    except Exception:  # grouping must not prevent the verdict from being stored
        log.exception("a comment cannot be grouped", extra={"comment_id": verdict.comment_id})
        return None


class SecondJudging:
    """Asks the second judge about one comment per run, while none waits for a verdict.

    After a failure it pauses, twice as long each time, so that an outage costs few attempts.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._rest, self._rests_until = _FIRST_REST, services.clock()

    def run(self) -> bool:
        """Return True if an opinion was stored. Raises `StoreUnavailableError`."""
        judge, now = self._services.second_judge, self._services.clock()
        if judge is None or now < self._rests_until or any(self._services.queue.depth().values()):
            return False
        case = self._services.verdicts.next_without_opinion(most_attempts=3)
        if case is None:
            return False
        comment = case.comment
        opinion = judge(comment, self._services.sites.get(comment.site_id).name)
        if opinion is None:
            self._rests_until = now + self._rest
        self._rest = _FIRST_REST if opinion else min(self._rest * 2, _LONGEST_REST)
        return self._services.verdicts.add_opinion(comment.id, opinion)
