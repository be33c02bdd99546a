"""Compares the ways to score comments side by side: speed, latency, memory, start.

    python -m tests.benchmarks.bench_scoring --comments 256

Every engine is a process of its own, and they take turns, so that whatever else the machine does
falls on all of them. They read authored comments with their titles. Before each pass the
classifier's memory of windows is emptied, so that it remembers only what the same pass has shown
it; that of the whole judgement is kept.

- *comments/s* is the median of the repeats.
- *p50* and *p95* are latencies in ms of one comment; in a batch it waits for its whole call.
- *cold start* is the time from starting the process to its first verdict.
- *peak memory* is the most that the process ever held, with everything measured here.
"""

import argparse
import itertools
import multiprocessing
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from models.registry import SHIPPED_DIR, load_version, read_current_name
from models.transformer import TOKENISER_FILE
from service.domain.dataset_row import comment_from_row
from service.domain.sender import History
from service.moderation.judging import judge_comments
from service.scoring.classifier import model_input
from service.stores.files.model_versions import to_judging_model
from tests.benchmarks.own_service import authored

Record = dict[str, Any]

_SIZES = (1, 64)
_REPEATS = 3


class Engine:
    """The shipped tokeniser and network: no memory, no linear member."""

    def __init__(self, version: Path) -> None:
        self.classifier: Any = load_version(version).classifier

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        """Return the records as this engine is handed comments; this is not timed."""
        return [model_input(comment_from_row(record)) for record in records]

    def score(self, some: list[Any]) -> None:
        """Score all of `some`; this is timed."""
        windows = [window for one in some for window in self.classifier._tokeniser.windows(one)]
        self.classifier._engine.read(windows)


class Classifier(Engine):
    """The shipped classifier as it serves: both members, its memory, the marked segments."""

    def score(self, some: list[Any]) -> None:
        """Score all of `some`."""
        self.classifier.score_batch(some)


class Judgement(Engine):
    """The whole judgement of one process: classifier, detectors, weights, policy."""

    def __init__(self, version: Path) -> None:
        self.model = to_judging_model(load_version(version))
        self.classifier = self.model.classifier

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        """Return the comments."""
        return [comment_from_row(record) for record in records]

    def score(self, some: list[Any]) -> None:
        """Judge all of `some`."""
        histories = [History()] * len(some)
        judge_comments(some, self.model, histories=histories, now=datetime.now(UTC))


class Pipeline(Engine):
    """The newcomer's way: a `transformers` pipeline, called with one text at a time.

    It has the shape of all-MiniLM-L6-v2, its weights are drawn at random: only time is measured.
    """

    def __init__(self, version: Path) -> None:
        from transformers import (
            BertConfig,
            BertForSequenceClassification,
            PreTrainedTokenizerFast,
            pipeline,
        )

        self.classifier = None
        special = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        tokeniser = PreTrainedTokenizerFast(tokenizer_file=str(version / TOKENISER_FILE), **special)
        config = BertConfig(
            vocab_size=len(tokeniser),
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            num_labels=2,
        )
        network = BertForSequenceClassification(config).eval()
        self.pipeline = pipeline(
            "text-classification", model=network, tokenizer=tokeniser, device="cpu"
        )

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        """Return the titles and texts."""
        return [f"{record.get('post_title') or ''}\n{record['text']}" for record in records]

    def score(self, some: list[Any]) -> None:
        """Score all of `some`, one by one, truncated where a tutorial would."""
        for text in some:
            self.pipeline(text, truncation=True, max_length=256)


_ENGINES: dict[str, Callable[[Path], Engine]] = {
    "1 transformers pipeline, fp32, six layers": Pipeline,
    "2 shipped engine: tokenising and network, no memory": Engine,
    "3 shipped classifier as it serves": Classifier,
    "4 whole judgement, one process": Judgement,
}


def serve(name: str, version: Path, asked: Connection) -> None:
    """Load an engine; answer each block of records and size with the seconds of its calls."""
    engine = _ENGINES[name](version)
    while (order := asked.recv()) is not None:
        records, size = order
        if hasattr(engine.classifier, "_remembered"):
            # A worker never needs to forget, so there is no method for it.
            engine.classifier._remembered.clear()
        calls = []
        some = engine.prepare(records)
        for start in range(0, len(some), size):
            part = some[start : start + size]
            began = time.perf_counter()
            engine.score(part)
            calls.append((len(part), time.perf_counter() - began))
        asked.send((calls, _peak_mib()))


def _peak_mib() -> float:
    """Return the most memory that this process held at once (VmHWM in proc(5))."""
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def main() -> None:
    """Measure everything that is installed here, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--comments", type=int, default=1_024)
    args = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    version = SHIPPED_DIR / read_current_name()
    records = authored()[: args.comments]
    has_torch = find_spec("torch") and find_spec("transformers")
    names = [name for name in _ENGINES if has_torch or name[0] > "2"]
    spawning = multiprocessing.get_context("spawn")
    ends, colds, peaks = {}, {}, {}
    for name in names:
        began = time.perf_counter()
        ends[name], theirs = spawning.Pipe()
        spawning.Process(target=serve, args=(name, version, theirs), daemon=True).start()
        ends[name].send((records[:1], 1))
        ends[name].recv()
        colds[name] = time.perf_counter() - began
    # Not counted: it compiles what each length needs.
    for end in ends.values():
        end.send((records, 1))
        end.recv()
    rates, waits = defaultdict(list), defaultdict(list)
    for _ in range(_REPEATS):
        for size, name in itertools.product(_SIZES, names):
            ends[name].send((records, size))
            calls, peaks[name] = ends[name].recv()
            rates[name, size].append(len(records) / sum(took for _, took in calls))
            waits[name, size] += [took for count, took in calls for _ in range(count)]
    for end in ends.values():
        end.send(None)
    print(f"version {version.name}, {len(records)} comments, {_REPEATS} repeats\n")
    print("| engine | batch | comments/s | p50 ms | p95 ms | peak MiB | cold start s |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for (name, size), found in sorted(rates.items()):
        p50, *_, p95 = statistics.quantiles([1e3 * one for one in waits[name, size]], n=20)[9:]
        print(
            f"| {name} | {size} | {statistics.median(found):.0f} | {p50:.2f} | {p95:.2f} "
            f"| {peaks[name]:.0f} | {colds[name]:.2f} |"
        )


if __name__ == "__main__":
    main()
