"""Sends traces in OTLP over HTTP, where an operator has something that takes them.

A comment's trace has an id that is made from the comment's own, so that the API, the workers and
the callbacks add to one trace although messages carry nothing but ids. Imported only if traces are
wanted: the packages are an extra.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from service.domain.comment import CommentId
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState
from service.domain.stage import BATCH_STAGES
from service.ports.comments import Added, NewComment
from service.ports.observing import JudgedBatch

# Of what a process is given to stop, little.
_SEND_SECONDS = 2.0
# Beyond these spans are dropped rather than kept: traces never hold anything up.
_MOST_WAITING = 4_096
_NANOSECONDS = 1_000_000_000
_SERVER_ERROR = 500

_Attributes = Mapping[str, str | int | float | bool]


class TracingObserver:
    """Makes spans of what it is told; see `Observer`. Their attributes are ids and numbers.

    A request has a trace of its own. A comment's has `keep` at its root, below it `wait`, `judge`
    with the stages of its batch, and `tell` for each attempt to tell its site. `share` of the
    traces are sent, the same comments in every process.
    """

    def __init__(self, url: str, *, process: str, share: float = 1.0) -> None:
        self._ids = _DerivedIds()
        self._provider = TracerProvider(
            resource=Resource({"service.name": "slopsieve", "service.namespace": process}),
            sampler=TraceIdRatioBased(share),
            id_generator=self._ids,
            span_limits=SpanLimits(max_attributes=16, max_attribute_length=200),
            shutdown_on_exit=False,
        )
        self._exporter = OTLPSpanExporter(endpoint=url, timeout=_SEND_SECONDS)
        self._processor = BatchSpanProcessor(
            self._exporter,
            max_queue_size=_MOST_WAITING,
            schedule_delay_millis=1_000,
        )
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("slopsieve")

    def monotonic(self) -> float:
        """See `Observer.monotonic`."""
        return time.perf_counter()

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """See `Observer.kept`."""
        for new, answer in zip(comments, added, strict=True):
            self._ids.take(answer.comment_id)
            labels = {"comment.id": answer.comment_id, "lane": new.lane.value}
            labels["outcome"] = answer.outcome.value
            began = _nanoseconds(new.comment.received_at)
            # No parent, or the one whose request this thread serves would be it.
            span = self._tracer.start_span(
                "keep", context=set_span_in_context(_NO_SPAN), attributes=labels, start_time=began
            )
            span.end(_nanoseconds(at))
            self._ids.take(None)

    def judged(self, batch: JudgedBatch) -> None:
        """See `Observer.judged`."""
        verdicts = {verdict.comment_id: verdict for verdict in batch.verdicts}
        began, ended = _nanoseconds(batch.began), _nanoseconds(batch.ended)
        for comment in batch.comments:
            verdict = verdicts.get(comment.id)
            root = _root_of(comment.id)
            received = _nanoseconds(comment.received_at)
            self._span("wait", root, comment.id, received, began)
            labels: dict[str, str | int | float | bool] = {
                "comment.id": comment.id,
                "batch.comments": len(batch.comments),
                "stored": comment.id in batch.stored,
            }
            if verdict is not None:
                labels |= {
                    "outcome": verdict.outcome.value,
                    "model.version": verdict.model_version,
                    "degraded_by": ",".join(verdict.degraded_by),
                }
            span = self._tracer.start_span(
                "judge", context=root, attributes=labels, start_time=began
            )
            self._stages(set_span_in_context(span), comment.id, began, batch)
            span.end(ended)

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """See `Observer.told`."""
        began = _nanoseconds(attempt.at)
        span = self._tracer.start_span(
            "tell",
            context=_root_of(delivery.comment_id),
            kind=SpanKind.CLIENT,
            start_time=began,
            attributes={
                "comment.id": delivery.comment_id,
                "delivery.id": delivery.id,
                "attempt": delivery.attempts + 1,
                "http.response.status_code": attempt.status or 0,
                "state": state.value,
            },
        )
        if state is not DeliveryState.DELIVERED:
            span.set_status(Status(StatusCode.ERROR))
        span.end(began + attempt.milliseconds * 1_000_000)

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """See `Observer.served`."""
        ended = time.time_ns()
        span = self._tracer.start_span(
            f"{method} {route}" if route else method,
            context=set_span_in_context(_NO_SPAN),
            kind=SpanKind.SERVER,
            start_time=ended - int(seconds * _NANOSECONDS),
            attributes={
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
            },
        )
        if status >= _SERVER_ERROR:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def close(self) -> None:
        """Send what waits, for at most some seconds, and make no more."""
        flushing = threading.Thread(target=self._processor.force_flush, daemon=True)
        flushing.start()
        flushing.join(_SEND_SECONDS)
        # Else what could not be sent would be tried again, for as long as there is of it.
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # it has no types
        self._provider.shutdown()

    def _stages(
        self, parent: Context, comment_id: CommentId, began: int, batch: JudgedBatch
    ) -> None:
        """Make a span of each stage, one after the other: detectors and conclusions take turns."""
        for stage in BATCH_STAGES:
            if stage in batch.seconds:
                ended = began + int(batch.seconds[stage] * _NANOSECONDS)
                self._span(stage.value, parent, comment_id, began, ended)
                began = ended

    def _span(
        self, name: str, parent: Context, comment_id: CommentId, began: int, ended: int
    ) -> None:
        labels: _Attributes = {"comment.id": comment_id}
        span = self._tracer.start_span(name, context=parent, attributes=labels, start_time=began)
        span.end(ended)


class _DerivedIds(IdGenerator):
    """Makes the ids of a comment's root span from the comment's, any other by chance."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._own = threading.local()

    def take(self, comment_id: CommentId | None) -> None:
        """Let this thread's next root be this comment's."""
        self._own.comment_id = comment_id

    def generate_trace_id(self) -> int:
        """Return a trace's id."""
        comment_id = getattr(self._own, "comment_id", None)
        return _trace_id(comment_id) if comment_id else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        """Return a span's id."""
        comment_id = getattr(self._own, "comment_id", None)
        return _span_id(comment_id) if comment_id else self._random.generate_span_id()


def _root_of(comment_id: CommentId) -> Context:
    """Return the context of a comment's root span, which another process may have made."""
    context = SpanContext(
        trace_id=_trace_id(comment_id),
        span_id=_span_id(comment_id),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    return set_span_in_context(NonRecordingSpan(context))


def _trace_id(comment_id: CommentId) -> int:
    return _digest("trace", comment_id, 16)


def _span_id(comment_id: CommentId) -> int:
    return _digest("root", comment_id, 8)


def _digest(purpose: str, comment_id: CommentId, size: int) -> int:
    digest = hashlib.sha256(f"{purpose}:{comment_id}".encode()).digest()
    # An id of zero is none.
    return int.from_bytes(digest[:size]) or 1


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * _NANOSECONDS)


_NO_SPAN = NonRecordingSpan(
    SpanContext(trace_id=0, span_id=0, is_remote=False, trace_flags=TraceFlags(0))
)
