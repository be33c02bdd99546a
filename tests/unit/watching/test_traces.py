"""A comment's way is one trace, whichever processes it went through, without anybody's words."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from service.domain.comment import Lane
from service.domain.delivery import DeliveryAttempt, DeliveryState
from service.domain.stage import Stage
from service.domain.verdict import Outcome
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.observing import JudgedBatch
from service.settings import load_settings
from service.start_error import ExitCode, StartError
from service.watching.several import SeveralObservers
from service.watching.traces import TracingObserver
from service.wiring import wire
from tests.contract.test_delivery_store import make_delivery
from tests.factories import NOW, make_comment, make_verdict
from tests.servers import free_port


class Collector:
    """Takes traces in OTLP over HTTP, as a collector of OpenTelemetry does."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.raw = b""
        spans = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:  # noqa: N805  # the collector is `self` here
                body = handler.rfile.read(int(handler.headers["Content-Length"]))
                if handler.headers.get("Content-Encoding") == "gzip":
                    import gzip

                    body = gzip.decompress(body)
                self.raw += body
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        spans.extend(scope.spans)
                handler.send_response(200)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        """Take no more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with contextlib.closing(Collector()) as made:
        yield made


COMMENT = make_comment("Zanzibar words", received_at=NOW - timedelta(seconds=2))


def go_through(url: str, *, share: float = 1.0) -> None:
    """Take a comment through three processes, each with an observer of its own."""
    new = NewComment(comment=COMMENT, lane=Lane.INTERACTIVE)
    added = Added(outcome=AddOutcome.NEW, comment_id=COMMENT.id)
    batch = JudgedBatch(
        comments=[COMMENT],
        verdicts=[make_verdict(COMMENT.id, Outcome.SPAM)],
        stored={COMMENT.id},
        began=NOW - timedelta(seconds=1),
        ended=NOW,
        seconds={Stage.GATHER: 0.1, Stage.CLASSIFY: 0.5, Stage.STORE: 0.2},
    )
    delivery = make_delivery(COMMENT.id)
    attempt = DeliveryAttempt(
        delivery_id=delivery.id, at=NOW, milliseconds=30, status=500, problem=None
    )
    for process in ("api", "worker", "callbacks"):
        with contextlib.closing(TracingObserver(url, process=process, share=share)) as tracing:
            if process == "api":
                tracing.kept([new], [added], at=NOW - timedelta(seconds=1.9))
                tracing.served(route="/v1/comments", method="POST", status=202, seconds=0.1)
            elif process == "worker":
                tracing.judged(batch)
            else:
                tracing.told(delivery, attempt, DeliveryState.WAITING)


def test_three_processes_add_to_one_trace_with_the_keeping_at_its_root(collector):
    go_through(collector.url)

    of_comment = [s for s in collector.spans if s.name != "POST /v1/comments"]
    root = next(s for s in of_comment if s.name == "keep")
    judge = next(s for s in of_comment if s.name == "judge")
    parents = {s.name: s.parent_span_id for s in of_comment}
    assert {s.trace_id for s in of_comment} == {root.trace_id}
    assert root.parent_span_id == b""
    assert {name for name, parent in parents.items() if parent == root.span_id} == {
        "wait",
        "judge",
        "tell",
    }
    assert {name for name, parent in parents.items() if parent == judge.span_id} == {
        "gather",
        "classify",
        "store",
    }


def test_spans_last_as_long_as_what_they_stand_for(collector):
    go_through(collector.url)

    seconds = {
        s.name: round((s.end_time_unix_nano - s.start_time_unix_nano) / 1e9, 3)
        for s in collector.spans
    }
    assert seconds == {
        "keep": 0.1,
        "POST /v1/comments": 0.1,
        "wait": 1.0,
        "judge": 1.0,
        "gather": 0.1,
        "classify": 0.5,
        "store": 0.2,
        "tell": 0.03,
    }


def test_spans_carry_ids_and_no_words(collector):
    go_through(collector.url)

    ids = {
        attribute.value.string_value
        for span in collector.spans
        for attribute in span.attributes
        if attribute.key == "comment.id"
    }
    assert ids == {COMMENT.id}
    for word in (b"Zanzibar", b"Mara", b"blog.example"):
        assert word not in collector.raw


def test_a_request_has_a_trace_of_its_own(collector):
    go_through(collector.url)

    traces = {span.name: span.trace_id for span in collector.spans}
    assert traces["POST /v1/comments"] != traces["keep"]


def test_of_a_comment_all_of_the_trace_is_sent_or_nothing(collector):
    go_through(collector.url, share=0.0)

    assert collector.spans == []


def test_a_collector_that_is_away_holds_nobody_up():
    go_through(f"http://127.0.0.1:{free_port()}/v1/traces")


def test_several_observers_are_told_the_same(collector):
    tracing = TracingObserver(collector.url, process="api")

    SeveralObservers(tracing, tracing).served(route="/x", method="GET", status=200, seconds=0)
    tracing.close()

    assert [span.name for span in collector.spans] == ["GET /x"] * 2


def test_only_a_process_that_lives_sends_traces(tmp_path, collector):
    settings = load_settings(data_dir=tmp_path, traces_url=collector.url)

    for process, traces in (("", False), ("worker", True)):
        wired = wire(settings, process=process)
        assert (wired.tracing is not None) is traces
        wired.close()


def test_without_the_setting_nothing_of_it_is_imported(tmp_path):
    program = f"""
import sys
from service.settings import load_settings
from service.wiring import wire
wire(load_settings(data_dir={str(tmp_path)!r}), process="api").close()
# The client of Valkey takes parts of the packages where they are installed.
assert not [name for name in sys.modules if name.startswith("opentelemetry.exporter")]
assert "service.watching.traces" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_without_the_packages_one_line_says_which_and_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "service.watching.traces", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)

    with pytest.raises(StartError, match=r"pip install -e .\.\[traces\].") as caught:
        wire(load_settings(data_dir=tmp_path, traces_url="http://127.0.0.1:1/"), process="api")

    assert caught.value.exit_code is ExitCode.PACKAGE
