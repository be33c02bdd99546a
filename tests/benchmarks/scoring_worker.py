"""One engine in a process of its own: loads, says ready, then scores blocks on command.

A command is one line of JSON on standard input, its answer one line on standard output. The
process ends with its input. `bench_scoring` is the only one that speaks to it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from tests.benchmarks.comment_mix import Record

# What a tutorial would truncate at.
_MOST_TOKENS = 256
# The batches of the torch rows are cut from windows of this many comments, sorted by length.
_SORTED_AT_ONCE = 256


class MissingError(Exception):
    """This engine cannot be measured here; the message says what is missing."""


class Scorer(Protocol):
    """What every engine can do. `prepare` is not timed, `score` is."""

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        """Return the records as this engine is handed comments."""

    def calls(self, count: int, size: int) -> list[slice]:
        """Return which comments each call scores."""

    def score(self, some: list[Any], size: int) -> None:
        """Score all of `some`, as a caller with batches of `size` would."""

    def forget(self) -> None:
        """Empty whatever is remembered of comments scored before."""


class _Plain:
    """One call a batch, nothing remembered."""

    def calls(self, count: int, size: int) -> list[slice]:
        return [slice(start, start + size) for start in range(0, count, size)]

    def forget(self) -> None:
        return None


def _texts(records: Sequence[Record]) -> list[str]:
    return [f"{record.get('post_title') or ''}\n{record['text']}" for record in records]


def _load_torch_classifier() -> tuple[Any, Any]:
    """Return a classifier of the shape of all-MiniLM-L6-v2 and the shipped tokeniser.

    Its weights are drawn at random: only its time is measured.
    """
    if not (find_spec("torch") and find_spec("transformers")):
        raise MissingError("the extra `train` is not installed: make install-train")
    import torch
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast
    from transformers.utils import logging

    from models.registry import SHIPPED_DIR, read_current_name
    from models.transformer import TOKENISER_FILE

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(7)
    tokeniser = PreTrainedTokenizerFast(
        tokenizer_file=str(SHIPPED_DIR / read_current_name() / TOKENISER_FILE),
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )
    config = BertConfig(
        vocab_size=len(tokeniser),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=2,
    )
    return BertForSequenceClassification(config).eval(), tokeniser


class Pipeline(_Plain):
    """The newcomer's way: a `transformers` pipeline, called with one text at a time."""

    def __init__(self) -> None:
        model, tokeniser = _load_torch_classifier()
        from transformers import pipeline

        self._pipeline = pipeline(
            "text-classification", model=model, tokenizer=tokeniser, device="cpu"
        )

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        return _texts(records)

    def score(self, some: list[Any], size: int) -> None:
        for text in some:
            self._pipeline(text, truncation=True, max_length=_MOST_TOKENS)


class TorchBatches(_Plain):
    """The same model in torch, in batches of comments of like length, padded to the longest."""

    def __init__(self, *, layers: int | None = None) -> None:
        self._model, self._tokeniser = _load_torch_classifier()
        if layers is not None:
            encoder = self._model.base_model.encoder
            encoder.layer = encoder.layer[:layers]

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        return _texts(records)

    def calls(self, count: int, size: int) -> list[slice]:
        return super().calls(count, _SORTED_AT_ONCE if size > 1 else 1)

    def score(self, some: list[Any], size: int) -> None:
        import torch

        cut = self._tokeniser(some, truncation=True, max_length=_MOST_TOKENS)
        order = sorted(range(len(some)), key=lambda i: len(cut["input_ids"][i]))
        with torch.inference_mode():
            for start in range(0, len(order), size):
                chosen = order[start : start + size]
                batch = self._tokeniser.pad(
                    {key: [values[i] for i in chosen] for key, values in cut.items()},
                    return_tensors="pt",
                )
                self._model(**batch).logits.softmax(-1).tolist()


class Engine(_Plain):
    """The shipped tokeniser and network, nothing else: no memory, no linear member."""

    def __init__(self, version: Path) -> None:
        from models.registry import load_version
        from models.transformer import TransformerClassifier

        classifier = load_version(version).classifier
        if not isinstance(classifier, TransformerClassifier):
            raise MissingError("this version has no network")
        self._tokeniser, self._engine = classifier._tokeniser, classifier._engine

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        return _model_inputs(records)

    def score(self, some: list[Any], size: int) -> None:
        self._engine.read([window for one in some for window in self._tokeniser.windows(one)])


class Network(Engine):
    """The shipped network alone: its windows are at hand."""

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        return [self._tokeniser.windows(one) for one in _model_inputs(records)]

    def score(self, some: list[Any], size: int) -> None:
        self._engine.read([window for windows in some for window in windows])


class Classifier(_Plain):
    """The shipped classifier as it serves: both members, its memory, the marked segments."""

    def __init__(self, version: Path) -> None:
        from models.registry import load_version

        self._classifier: Any = load_version(version).classifier

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        return _model_inputs(records)

    def score(self, some: list[Any], size: int) -> None:
        self._classifier.score_batch(some)

    def forget(self) -> None:
        from tests.benchmarks.judging_model import forget_windows

        forget_windows(self._classifier)


class Judgement(_Plain):
    """The whole judgement of one process: classifier, detectors, weights, policy."""

    def __init__(self, version: Path) -> None:
        from service.domain.history import History
        from service.moderation.judging.judgement import judge_comments
        from tests.benchmarks.judging_model import load_judging_model

        self._model = load_judging_model(version)
        self._judge, self._history = judge_comments, History()

    def prepare(self, records: Sequence[Record]) -> list[Any]:
        from service.domain.dataset_row import comment_from_row

        return [comment_from_row(record) for record in records]

    def score(self, some: list[Any], size: int) -> None:
        histories = [self._history] * len(some)
        self._judge(some, self._model, histories=histories, now=datetime.now(UTC))

    def forget(self) -> None:
        from tests.benchmarks.judging_model import forget_windows

        forget_windows(self._model.classifier)


def _model_inputs(records: Sequence[Record]) -> list[Any]:
    from service.domain.dataset_row import comment_from_row
    from service.scoring.inputs import model_input

    return [model_input(comment_from_row(record)) for record in records]


def _load(name: str, version: Path, layers: int) -> Scorer:
    engines: Mapping[str, Callable[[], Scorer]] = {
        "pipeline": Pipeline,
        "torch": TorchBatches,
        "torch-layers": lambda: TorchBatches(layers=layers),
        "engine": lambda: Engine(version),
        "network": lambda: Network(version),
        "classifier": lambda: Classifier(version),
        "judgement": lambda: Judgement(version),
    }
    return engines[name]()


def _answer(scorer: Scorer, command: Mapping[str, Any]) -> dict[str, Any]:
    match command["do"]:
        case "score":
            return {"calls": _score(scorer, command["records"], command["size"])}
        case "forget":
            scorer.forget()
            return {}
        case "peak":
            return {"mib": _peak_mib()}
        case unknown:
            msg = f"no such command: {unknown}"
            raise ValueError(msg)


def _score(scorer: Scorer, records: Sequence[Record], size: int) -> list[tuple[int, float]]:
    """Return for each call how many comments it scored and its seconds."""
    prepared = scorer.prepare(records)
    calls = []
    for part in scorer.calls(len(prepared), size):
        some = prepared[part]
        started = time.perf_counter()
        scorer.score(some, size)
        calls.append((len(some), time.perf_counter() - started))
    return calls


def _peak_mib() -> float:
    """Return the most memory that this process held at once (VmHWM in proc(5))."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise MissingError("the system does not say how much memory was used")


def main() -> None:
    """Load the engine named, then answer until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("version", type=Path)
    parser.add_argument("--layers", type=int, default=0)
    args = parser.parse_args()
    # What libraries print must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def say(answer: Mapping[str, Any]) -> None:
        answers.write(f"{json.dumps(answer)}\n")
        answers.flush()

    try:
        scorer = _load(args.engine, args.version, args.layers)
    except MissingError as error:
        say({"missing": str(error)})
        return
    say({"ready": True})
    for line in sys.stdin:
        say(_answer(scorer, json.loads(line)))


if __name__ == "__main__":
    main()
