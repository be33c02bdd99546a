"""Compares a Slopsieve version with well-known spam filters that learn from the same rows.

`python -m tests.benchmarks.peers --data FOLDER --version FOLDER --out FILE.md`. The rows are the
parts that `training/data/partition.py` draws. The figures are kept in a JSON file beside FILE.md:
what it holds of the same rows is not measured again, unless `--only` names it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models.errors import ModelVersionError
from service.commands.trained_on import trained_on
from service.domain.errors import InvalidInputError
from service.scoring.metrics import Flags
from tests.benchmarks.peer_filters import (
    NotInstalledError,
    Rows,
    Scored,
    embedding_regression,
    tfidf_regression,
    version_model,
)
from tests.benchmarks.peer_mail import bogofilter, spamassassin_bayes
from tests.benchmarks.peer_report import count_slices, measure, slices_of, to_markdown
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import (
    DEFAULT_DATA,
    Dataset,
    Example,
    read_dataset,
)
from training.data.partition import SEED, TEST_SOURCES, partition

_VERSION = "version"
TITLES = {
    "tfidf": "TF-IDF and logistic regression",
    "bogofilter": "bogofilter",
    "spamassassin": "SpamAssassin's Bayes",
    "embeddings": "all-MiniLM-L6-v2, frozen, and logistic regression",
}

Filter = Callable[[Rows], Scored]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for and print the report; return the process's exit code."""
    given = _parse(arguments)
    try:
        dataset = read_dataset(given.data, corrections=given.corrections)
        parts = partition(dataset, seed=SEED)
        rows = Rows(train=parts.train, calibration=parts.calibration, test=parts.test)
        record = start_record(dataset, rows, earlier=_read(given.out))
        for name, (title, function) in _filters(given, dataset).items():
            if is_wanted(name, record, given.only):
                print(f"measuring {title}", file=sys.stderr)
                record["filters"][name] = {"title": title, **measure_filter(function, rows)}
                # What took minutes is kept even if the next filter fails.
                _write(record, given)
    except (InvalidInputError, ModelVersionError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(_write(record, given))
    return 0


def start_record(
    dataset: Dataset, rows: Rows, *, earlier: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return a record of these rows that holds what `earlier` measured on them.

    Raise `ValueError` if `earlier` was measured on other rows.
    """
    parts = {"train": rows.train, "calibration": rows.calibration, "test": rows.test}
    described = {name: _describe(examples) for name, examples in parts.items()}
    if earlier and earlier.get("rows") != described:
        msg = "the figures in the JSON file are of other rows: give --out another name"
        raise ValueError(msg)
    kept = earlier["filters"] if earlier else {}
    return {
        "data": [{"name": file.name, "sha256": file.sha256} for file in dataset.files],
        "rows": described,
        "slices": count_slices(_labels(rows), slices_of(rows.test)),
        "filters": {name: entry for name, entry in kept.items() if "slices" in entry},
    }


def _describe(examples: Sequence[Example]) -> dict[str, Any]:
    """Return counts and a SHA-256 that changes with every id, label and text."""
    told = sorted(f"{e.comment.id}\n{e.is_spam}\n{e.comment.fingerprint()}" for e in examples)
    n_spam = sum(example.is_spam for example in examples)
    return {
        "spam": n_spam,
        "ham": len(examples) - n_spam,
        "sha256": hashlib.sha256("\n".join(told).encode()).hexdigest(),
    }


def is_wanted(name: str, record: Mapping[str, Any], only: Sequence[str] | None) -> bool:
    """Tell whether to measure a filter: if `only` names it or, without `only`, if it is new."""
    return name.partition(" ")[0] in only if only else name not in record["filters"]


def measure_filter(function: Filter, rows: Rows) -> dict[str, Any]:
    """Return the figures of one filter, or why there are none and the command that helps."""
    try:
        scored = function(rows)
    except NotInstalledError as error:
        return {"not_measured": str(error)}
    return {
        "train_seconds": scored.train_seconds,
        "note": scored.note,
        "slices": measure(_labels(rows), scored.scores, slices_of(rows.test)),
    }


def _labels(rows: Rows) -> Flags:
    return np.array([example.is_spam for example in rows.test], dtype=np.bool_)


def _filters(given: argparse.Namespace, dataset: Dataset) -> dict[str, tuple[str, Filter]]:
    """Return title and function of every filter by its name; a version's name holds its own."""
    functions: dict[str, Filter] = {
        "tfidf": tfidf_regression,
        "bogofilter": bogofilter,
        "spamassassin": spamassassin_bayes,
        "embeddings": partial(embedding_regression, cache=given.cache),
    }
    filters = {name: (TITLES[name], function) for name, function in functions.items()}
    if given.version:
        folder = given.version.resolve()
        labelled = [file for file in dataset.files if file.n_spam or file.n_ham]
        tested = {f.sha256 for f in labelled if f.name.partition(".")[0] in TEST_SOURCES}
        read = frozenset(f.sha256 for f in labelled) - tested
        measure_version = partial(score_version, folder=folder, read=read, tested=frozenset(tested))
        filters[f"{_VERSION} {folder.name}"] = (f"Slopsieve {folder.name}", measure_version)
    return filters


def score_version(rows: Rows, folder: Path, read: frozenset[str], tested: frozenset[str]) -> Scored:
    """Score with a version, and note what its card says that it learnt from.

    `read` are the files (SHA-256) that it should have learnt from, `tested` those that are tested
    on alone. What learnt from these too has figures of its own out of fold, in its card.
    """
    scored = version_model(rows, folder)
    learnt = trained_on(folder.name, folder.parent)
    notes = [scored.note]
    if unnamed := len(read - learnt):
        notes.append(f"its card does not name {unnamed} of the {len(read)} data files")
    if seen := len(tested & learnt):
        notes.append(
            f"it LEARNT {seen} of the {len(tested)} files that are tested on alone: no fair "
            "comparison, see the out-of-fold figures in its card"
        )
    return replace(scored, note="; ".join(notes))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.peers", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[DEFAULT_DATA], metavar="DIR")
    parser.add_argument(
        "--corrections",
        type=Path,
        metavar="FILE",
        default=LABEL_CORRECTIONS,
        help="labels to correct before anything is drawn, the repository's own by default",
    )
    parser.add_argument("--version", type=Path, metavar="FOLDER", help="a Slopsieve version")
    parser.add_argument("--only", nargs="+", choices=[*TITLES, _VERSION])
    parser.add_argument("--out", type=Path, metavar="FILE.md", help="FILE.json is kept beside it")
    parser.add_argument(
        "--cache", type=Path, metavar="FILE.npz", help="keeps sentence embeddings between runs"
    )
    given = parser.parse_args(arguments)
    if given.version is None and given.only and _VERSION in given.only:
        parser.error("--only version needs --version FOLDER")
    if given.out and given.out.suffix != ".md":
        parser.error("--out must end in .md: the JSON file gets the same name")
    return given


def _read(out: Path | None) -> dict[str, Any] | None:
    """Return the record of an earlier run. Raise `ValueError` if it cannot be read."""
    path = out and out.with_suffix(".json")
    if not path or not path.exists():
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        record["filters"].items()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        msg = f"{path} holds no figures of this program: give --out another name"
        raise ValueError(msg) from error
    return record


def _write(record: Mapping[str, Any], given: argparse.Namespace) -> str:
    """Return the report, and write it and its JSON where asked for."""
    titles = {**TITLES, **({} if _has_version(record) else {_VERSION: "Slopsieve"})}
    unasked = {
        name: {
            "title": title,
            "not_measured": "not asked for, give --"
            + ("version FOLDER" if name == _VERSION else f"only {name}"),
        }
        for name, title in titles.items()
    }
    whole = {**record, "filters": unasked | record["filters"]}
    markdown = to_markdown(whole)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(markdown, encoding="utf-8")
        told = json.dumps(whole, ensure_ascii=False, indent=1)
        given.out.with_suffix(".json").write_text(f"{told}\n", encoding="utf-8")
    return markdown


def _has_version(record: Mapping[str, Any]) -> bool:
    return any(name.startswith(_VERSION) for name in record["filters"])


if __name__ == "__main__":
    sys.exit(main())
