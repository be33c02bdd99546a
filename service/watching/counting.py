"""Counts events in one process, for Prometheus."""

from collections import Counter as Tally
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache, partial

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.process_collector import ProcessCollector

from service.domain.comment import Lane
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState
from service.domain.figures import BATCH_STAGES, Stage
from service.domain.verdict import Outcome
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.observing import JudgedBatch, Observer

# From the duration of one detector to the wait behind a backlog of a day.
_STAGE_SECONDS = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    3600, 86400,
)  # fmt: skip
_HTTP_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_DELIVERY_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15)
_UPKEEP_SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 5, 30, 300)
_BATCH_COMMENTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_CAUSES = ("history", "model", "detectors", "judging")
_DELIVERED = {
    DeliveryState.DELIVERED: "delivered",
    DeliveryState.WAITING: "retried",
    DeliveryState.DEAD: "given_up",
}


class CountingObserver(Observer):
    """Counts in memory: numbers under labels from fixed sets."""

    def __init__(self, registry: CollectorRegistry) -> None:
        ProcessCollector(registry=registry)
        counter = partial(Counter, namespace="slopsieve", registry=registry)
        histogram = partial(Histogram, namespace="slopsieve", registry=registry)
        self._kept = counter(
            "comments_kept",
            "Comments that came in, by lane and by whether they were new.",
            ["lane", "outcome"],
        )
        self._verdicts = counter("verdicts", "Verdicts stored, by outcome.", ["outcome"])
        self._degraded = counter(
            "verdicts_degraded",
            "Verdicts reached without some evidence, by what was missing.",
            ["cause"],
        )
        self._instructed = counter(
            "verdicts_instructed", "Verdicts whose outcome a moderator's list entry decided."
        )
        stages = histogram(
            "stage_seconds",
            "Seconds of each stage: keep, wait and verdict a comment, the others a batch.",
            ["stage"],
            buckets=_STAGE_SECONDS,
        )
        self._batches = histogram(
            "batch_comments", "Comments judged together.", buckets=_BATCH_COMMENTS
        )
        self._told = counter(
            "callback_attempts",
            "Attempts to tell a site, by what became of the message.",
            ["outcome"],
        )
        self._told_seconds = histogram(
            "callback_seconds",
            "Seconds that a site took to answer, or to fail.",
            buckets=_DELIVERY_SECONDS,
        )
        self._requests = counter(
            "http_requests",
            "Requests answered, by route template, method and status.",
            ["route", "method", "status"],
        )
        self._request_seconds = histogram(
            "http_request_seconds",
            "Seconds from a request's arrival to its answer, by route template.",
            ["route"],
            buckets=_HTTP_SECONDS,
        )
        self._upkeep = counter(
            "upkeep_runs", "Runs of upkeep tasks, by how they ended.", ["task", "outcome"]
        )
        self._upkeep_seconds = histogram(
            "upkeep_seconds", "Seconds of upkeep runs.", ["task"], buckets=_UPKEEP_SECONDS
        )
        self._upkeep_handled = counter(
            "upkeep_handled",
            "What upkeep runs dealt with, such as comments pruned or queued again.",
            ["task"],
        )
        self._database_errors = counter(
            "database_errors", "Errors of the database's driver, by their class.", ["error"]
        )
        # Looking up a label costs more than counting.
        self._route_seconds = cache(lambda route: self._request_seconds.labels(route).observe)
        self._stage = cache(lambda stage: stages.labels(stage.value).observe)

    def expect(self, process: str) -> None:
        """Initialize the counters of this kind of process to zero, which rates need."""
        if process == "worker":
            for outcome in Outcome:
                self._verdicts.labels(outcome.value)
            for cause in _CAUSES:
                self._degraded.labels(cause)
            for stage in (Stage.WAIT, Stage.VERDICT, *BATCH_STAGES):
                self._stage(stage)
        if process == "api":
            for lane in Lane:
                self._kept.labels(lane.value, AddOutcome.NEW.value)
            self._stage(Stage.KEEP)
        if process == "background":
            for ended in _DELIVERED.values():
                self._told.labels(ended)

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        outcomes = Tally(
            (new.lane.value, answer.outcome.value)
            for new, answer in zip(comments, added, strict=True)
        )
        for labels, number in outcomes.items():
            self._kept.labels(*labels).inc(number)
        observe = self._stage(Stage.KEEP)
        for new in comments:
            observe(max(0.0, (at - new.comment.received_at).total_seconds()))

    def judged(self, batch: JudgedBatch) -> None:
        stored = [v for v in batch.verdicts if v.comment_id in batch.stored]
        for outcome, number in Tally(v.outcome.value for v in stored).items():
            self._verdicts.labels(outcome).inc(number)
        for cause, number in Tally(cause for v in stored for cause in v.degraded_by).items():
            self._degraded.labels(cause).inc(number)
        instructed = sum(v.followed is not None for v in stored)
        if instructed:
            self._instructed.inc(instructed)
        self._batches.observe(len(batch.comments))
        for stage in BATCH_STAGES:
            if stage in batch.seconds:
                self._stage(stage)(batch.seconds[stage])
        wait, verdict = self._stage(Stage.WAIT), self._stage(Stage.VERDICT)
        for comment in batch.comments:
            wait(max(0.0, (batch.began - comment.received_at).total_seconds()))
            if comment.id in batch.stored:
                verdict(max(0.0, (batch.ended - comment.received_at).total_seconds()))

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        self._told.labels(_DELIVERED[state]).inc()
        self._told_seconds.observe(attempt.milliseconds / 1000)

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method, str(status)).inc()
        self._route_seconds(route)(seconds)

    def database_failed(self, error: str) -> None:
        self._database_errors.labels(error).inc()

    def watch_upkeep(self, task: str, run: Callable[[], object]) -> Callable[[], object]:
        """Wrap an upkeep run so that it is counted; its result and errors stay the same."""
        for outcome in ("done", "failed"):
            self._upkeep.labels(task, outcome)

        def counted() -> object:
            outcome = "failed"
            try:
                with self._upkeep_seconds.labels(task).time():
                    answer = run()
                outcome = "done"
            finally:
                self._upkeep.labels(task, outcome).inc()
            if isinstance(answer, int) and answer > 0:
                self._upkeep_handled.labels(task).inc(answer)
            return answer

        return counted
