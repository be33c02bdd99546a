"""Measures what counting and tracing cost: judging with and without, and one scrape."""

from __future__ import annotations

import gc
import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from service.domain.comment import Lane
from service.domain.dataset_row import comment_from_row
from service.moderation.judging.judge import judge_batch
from service.ports.comments import NewComment
from service.ports.models import JudgingModel
from service.ports.observing import UNOBSERVED, Observer
from service.watching.counting import CountingObserver
from service.watching.exposition import Exposition
from service.watching.several import SeveralObservers
from service.watching.traces import TracingObserver
from tests.benchmarks.comment_mix import sample_records
from tests.benchmarks.judging_model import current_folder, forget_windows, load_judging_model
from tests.databases import databases_given_back, fresh_stores
from tests.factories import SITE
from tests.fakes import make_services, make_site, with_ports
from tests.servers import free_port

_COMMENTS = 512
_BATCH = 64
_REPEATS = 9
_PROCESSES = 3
_SCRAPES = 20


def main() -> None:
    """Print the processor time of judging by what observes it, medians of interleaved repeats."""
    # It would tell each time that nobody takes them.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    model = load_judging_model(current_folder())
    counting = CountingObserver(CollectorRegistry())
    # Nobody takes them: what is measured is making them, in the thread that judges.
    tracing = TracingObserver(f"http://127.0.0.1:{free_port()}/v1/traces", process="worker")
    observers: dict[str, Observer] = {
        "nobody": UNOBSERVED,
        "counting": counting,
        "counting and tracing": SeveralObservers(counting, tracing),
    }
    seconds: dict[str, list[float]] = {name: [] for name in observers}
    _judge(model, UNOBSERVED)
    for _ in range(_REPEATS):
        for name, observer in observers.items():
            seconds[name].append(_judge(model, observer))
    tracing.close()
    base = statistics.median(seconds["nobody"])
    print(f"{_COMMENTS} comments in batches of {_BATCH}, {_REPEATS} repeats, processor time")
    for name, measured in seconds.items():
        median = statistics.median(measured)
        each = median / _COMMENTS * 1e6
        ratios = [a / b for a, b in zip(measured, seconds["nobody"], strict=True)]
        print(
            f"{name:<21} {each:7.0f} us a comment  {median / base:.3f} of nobody's "
            f"(side by side {statistics.median(ratios):.3f}; {min(measured):.2f} to "
            f"{max(measured):.2f} s)"
        )
    _call_alone(counting, tracing)
    _scrape()


@databases_given_back()
def _judge(model: JudgingModel, observer: Observer) -> float:
    """Return the processor seconds of judging every comment once, over SQLite."""
    services = make_services(
        stores=fresh_stores(sites=[make_site()]), judges=False, current_model=lambda: model
    )
    comments = [replace(comment_from_row(row), site_id=SITE) for row in sample_records(_COMMENTS)]
    services.intake.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in comments])
    services = with_ports(services, observer=observer)
    forget_windows(model.classifier)
    gc.collect()
    began = time.process_time()
    for start in range(0, len(comments), _BATCH):
        judge_batch([one.id for one in comments[start : start + _BATCH]], services)
    return time.process_time() - began


def _call_alone(counting: CountingObserver, tracing: TracingObserver) -> None:
    """Print what one request costs to be counted and traced."""
    calls: dict[str, Callable[[], None]] = {
        name: lambda one=one: one.served(  # type: ignore[misc]  # the default binds it
            route="/v1/comments", method="POST", status=202, seconds=0.01
        )
        for name, one in (("counting", counting), ("tracing", tracing))
    }
    for name, call in calls.items():
        began = time.perf_counter()
        for _ in range(2_000):
            call()
        print(f"{name} one request: {(time.perf_counter() - began) / 2_000 * 1e6:.1f} us")


def _scrape() -> None:
    """Print how long one text of several processes takes, and how large it is."""
    with tempfile.TemporaryDirectory() as folder:
        shown = []
        for number in range(_PROCESSES):
            registry = CollectorRegistry()
            counting = CountingObserver(registry)
            counting.expect("worker")
            for route in range(60):
                counting.served(route=f"/{route}", method="GET", status=200, seconds=0.1)
            shown.append(Exposition(f"worker{number}", registry, Path(folder)))
        measured = []
        for _ in range(_SCRAPES):
            began = time.process_time()
            text = shown[0]._write()
            measured.append(time.process_time() - began)
        for one in shown:
            one.close()
    print(
        f"a scrape of {_PROCESSES} processes with 60 routes each: "
        f"{statistics.median(measured) * 1000:.0f} ms of processor time, {len(text) / 1000:.0f} kB"
    )


if __name__ == "__main__":
    main()
