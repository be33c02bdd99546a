"""Retrains the linear member on decisions, and compares the candidate with the current version.

    python -m training.retrain --decisions FILE.jsonl --run FOLDER --versions FOLDER [--data ...]

Network, joining and cutoffs stay unchanged: decisions are mostly about unsure comments, so they say
little about all others. A run takes minutes. A killed run starts again from the beginning. The
candidate is written atomically, and nothing is promoted. Needs no torch.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has none

from models.errors import ModelVersionError
from models.linear import table_bytes
from models.registry import (
    FUSION_FILE,
    SHIPPED_DIR,
    drop_version,
    free_name,
    list_versions,
    read_current_name,
    write_version,
)
from models.transformer import LINEAR_FILE, TransformerClassifier
from training.command import exit_code_of
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import DEFAULT_DATA, Example, read_dataset
from training.data.decisions import read_decisions
from training.fit.evidence import signal_strengths
from training.fit.members import Members, read_members
from training.fit.scores import labels, log_odds_of
from training.retraining.clean import split_decisions
from training.retraining.compare import Part, compare
from training.retraining.fit import correct_linear
from training.retraining.report import Report, candidate_documents, report_json, report_markdown

RUN_FILE, REPORT_FILE, REPORT_PAGE, NAME_FILE = "run.json", "report.json", "report.md", "name.json"
OUT_OF_MEMORY = 2
_NICENESS = 10
# The constant seconds and those per comment, on two idle cores without int8, and memory.
_SECONDS, _SECONDS_A_COMMENT = 15.0, 0.02
_MEMORY_MB, _MEMORY_MB_A_COMMENT = 700, 0.05


# Arbitrary, but fixed, so that a run can be repeated.
_SEED = 20_260
# With fewer decisions, a site's own list entries help more.
_MIN_TAUGHT = 10
# The newest decisions are held out: enough to compare versions, few enough to learn from the rest.
_HELD_SHARE = 0.3
# The number of replayed comments, which keep the table's other scores unchanged.
_REPLAYED = 2_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 after one clear message on standard error, 2 out of memory."""
    options = _parse(arguments)
    return exit_code_of(lambda: _bounded(options))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.retrain",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--decisions", type=Path, required=True, help="what `slopsieve decisions export` wrote")
    add("--run", type=Path, required=True, help="this run's folder")
    add("--versions", type=Path, default=SHIPPED_DIR, help="folder to write the candidate to")
    add("--current", type=Path, help="folder of CURRENT, if another")
    add("--data", type=Path, nargs="+", default=[], help="further data files or folders")
    add("--threads", type=int, default=1, help="so many cores at most (default 1)")
    add("--memory-mb", type=int, help="end with exit code 2 rather than take more")
    add("--dry-run", action="store_true", help="say what would be learnt, and how long it takes")
    options = parser.parse_args(arguments)
    if options.threads < 1:
        parser.error(f"--threads must be 1 or more, got {options.threads}")
    return options


def _bounded(options: argparse.Namespace) -> int:
    """Run with limits on processor and memory, and store the reason of a failure."""
    # The files quote comments, so no other user may read them.
    options.run.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.nice(max(0, _NICENESS - os.nice(0)))
    if options.memory_mb:
        most = options.memory_mb * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        with threadpool_limits(options.threads):
            return _retrain(options)
    except MemoryError:
        _write_progress(options.run, "failed", problem="it needs more memory: raise --memory-mb")
        return OUT_OF_MEMORY
    except Exception as error:
        lines = str(error).splitlines()
        _write_progress(options.run, "failed", problem=lines[0] if lines else type(error).__name__)
        raise


def _retrain(options: argparse.Namespace) -> int:
    began = time.monotonic()
    run, versions = options.run, options.versions

    # The data.
    _write_progress(run, "running", step="read")
    decisions = read_decisions(options.decisions)
    paths = [*([DEFAULT_DATA] if DEFAULT_DATA.exists() else []), *options.data]
    dataset = read_dataset(paths, corrections=LABEL_CORRECTIONS).examples if paths else ()
    decided = {one.id for one in decisions}
    known = [e for e in dataset if str(e.comment.id) not in decided]
    drawn = np.random.default_rng(_SEED).permutation(len(known))[:_REPLAYED]
    replayed = [known[i] for i in np.sort(drawn).tolist()]
    split = split_decisions(decisions, held_share=_HELD_SHARE)
    serving = (options.current or versions) / read_current_name(options.current or versions)
    current = serving.name
    report = Report(
        current=current,
        recommendation=None,
        taught=len(split.taught),
        spam=sum(one.decided.example.is_spam for one in split.taught),
        held=len(split.held),
        left_out=split.left_out,
    )
    n_read = len(decisions) + len(replayed)
    if options.dry_run:
        return _end(
            options,
            report,
            seconds=_SECONDS + _SECONDS_A_COMMENT * n_read,
            peak_memory_mb=_MEMORY_MB + _MEMORY_MB_A_COMMENT * n_read,
        )
    if len(split.taught) < _MIN_TAUGHT:
        return _end(options, report, recommendation="nothing to learn")

    # The model.
    _write_progress(run, "running", step="fit", share_done=0.2)
    files = _files_of(serving)
    before = read_members(files, threads=options.threads)
    taught = [one.decided.example for one in split.taught]
    table = correct_linear(
        before.linear,
        taught,
        np.array([one.weight for one in split.taught]),
        log_odds_of(before.score([e.comment for e in taught]), before.calibration),
        replayed,
        before.calibration,
    )
    candidate = {**files, LINEAR_FILE: table_bytes(table)}

    # The comparison.
    _write_progress(run, "running", step="compare", share_done=0.5)
    after = read_members(candidate, threads=options.threads)
    held = [one.example for one in split.held]
    fusion = before.known_fusion
    comparison = compare(
        _part("held decisions", held, before, after),
        _part("known comments", replayed, before, after),
        ham_cutoff=fusion.ham_cutoff,
        spam_cutoff=fusion.spam_cutoff,
    )

    # The version.
    _write_progress(run, "running", step="report", share_done=0.9)
    name = _free_name(run, versions)
    found = replace(
        report,
        recommendation="promote" if comparison.promote else "refuse",
        comparison=comparison,
        version=name,
        seconds=round(time.monotonic() - began, 1),
        # The kernel counts KiB.
        peak_memory_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    )
    write_version(
        versions,
        name,
        kind=TransformerClassifier.KIND,
        weights={n: content for n, content in candidate.items() if n != FUSION_FILE},
        fusion=before.fusion,
        documents=candidate_documents(
            json.loads((serving / "card.json").read_bytes()),
            name,
            found,
            {"trained_at": datetime.now(UTC).isoformat(), "retrained_from": current},
        ),
    )
    texts = {str(e.comment.id): e.comment.text for e in (*held, *replayed)}
    return _end(options, found, texts=texts)


def _part(name: str, examples: Sequence[Example], before: Members, after: Members) -> Part:
    strengths = signal_strengths(examples)
    return Part(
        name=name,
        ids=[str(e.comment.id) for e in examples],
        is_spam=labels(examples),
        current=before.p_spam(examples, strengths),
        candidate=after.p_spam(examples, strengths),
    )


def _files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a version's members. Raise `ModelVersionError` if it has others."""
    missing = [name for name in TransformerClassifier.FILES if not (folder / name).is_file()]
    if missing:
        msg = f"{folder} has no {', '.join(missing)}: only transformer versions can be retrained"
        raise ModelVersionError(msg)
    names = (*TransformerClassifier.FILES, *TransformerClassifier.MORE_FILES, FUSION_FILE)
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


def _free_name(run: Path, versions: Path) -> str:
    """Return the candidate's name, which a restarted run uses again."""
    file = run / NAME_FILE
    if not file.exists():
        name = free_name(versions, f"retrained-{datetime.now(UTC):%Y%m%d}")
        _write(file, {"version": name})
    name = str(json.loads(file.read_bytes())["version"])
    if name in list_versions(versions):
        # This run was killed after it wrote the candidate and before it reported it.
        drop_version(versions, name)
    return name


def _end(
    options: argparse.Namespace,
    report: Report,
    *,
    texts: Mapping[str, str] | None = None,
    **changes: Any,
) -> int:
    report = replace(report, **changes)
    page = options.run / REPORT_PAGE
    page.write_bytes(report_markdown(report, texts=texts or {}).encode("utf-8", "replace"))
    _write(options.run / REPORT_FILE, report_json(report))
    _write_progress(options.run, "ended", share_done=1.0)
    print(f"{report.version or 'no candidate'}: {report.recommendation or 'dry run'}; see {page}")
    return 0


def _write_progress(
    run: Path,
    state: str,
    *,
    step: str | None = None,
    share_done: float = 0.0,
    problem: str | None = None,
) -> None:
    """Write the run's progress, for the process that started it."""
    values = {"state": state, "step": step, "share_done": share_done, "problem": problem}
    _write(run / RUN_FILE, values)


def _write(path: Path, values: Mapping[str, Any]) -> None:
    """Write JSON atomically."""
    beside = path.with_suffix(".writing")
    beside.write_text(json.dumps(values, indent=1, allow_nan=False))
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
