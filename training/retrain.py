"""Trains a candidate from what was decided here, holds it against the current version, reports.

    python -m training.retrain --decisions FILE.jsonl --run FOLDER --versions FOLDER [--data ...]

Reads top to bottom: what is learnt from, the network, the weights, the embedding, the comparison,
the report. Nothing is promoted. A run that was cut off goes on when started again with the same
command, and ends with the same candidate to the bit.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has none

from models.registry import (
    FUSION_FILE,
    SHIPPED_DIR,
    free_name,
    write_version,
)
from models.transformer import (
    TransformerClassifier,
)
from training.card.provenance import code_version, machine
from training.command import exit_code_of
from training.fit.members import read_members
from training.network.finetune_on_decisions import count_steps, use_threads
from training.retraining.config import (
    STEPS,
    RetrainConfig,
    Start,
    expected_memory_mb,
    expected_seconds,
)
from training.retraining.decided_parts import Use
from training.retraining.inputs import REPORT_FILE, REPORT_PAGE
from training.retraining.report import (
    Learnt,
    Report,
    candidate_documents,
    report_json,
    report_markdown,
)
from training.retraining.run_folder import RunFolder, RunState
from training.retraining.steps import RunSteps
from training.retraining.watch import watched

_NICENESS = 10


def main(arguments: Sequence[str] | None = None, config: RetrainConfig | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error.

    The process ends with 2 where it would take more memory than allowed.
    """
    options = _parse(arguments)
    return exit_code_of(lambda: _retrain(options, config or RetrainConfig()))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.retrain",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--decisions", type=Path, required=True, help="what `slopsieve decisions export` wrote")
    add("--run", type=Path, required=True, help="this run's folder; named again it goes on")
    add("--versions", type=Path, default=SHIPPED_DIR, help="folder of versions, and of CURRENT")
    add(
        "--data",
        type=Path,
        nargs="+",
        default=[],
        help="further data files or folders, beside the repository's: those it was trained with",
    )
    add("--no-own-data", action="store_true", help="leave out the repository's: only --data")
    add(
        "--start",
        choices=[start.value for start in Start],
        default=Start.CURRENT.value,
        help="which network is fine-tuned: the current version's, or the base it was made of",
    )
    add("--threads", type=int, default=1, help="so many cores at most (default 1)")
    add("--memory-mb", type=int, help="end with exit code 2 rather than take more")
    add("--dry-run", action="store_true", help="say what would be learnt, and how long it takes")
    options = parser.parse_args(arguments)
    if options.no_own_data and not options.data:
        parser.error("--no-own-data leaves nothing to keep what was learnt: name files with --data")
    if options.threads < 1:
        parser.error(f"--threads must be 1 or more, got {options.threads}")
    return options


def _retrain(options: argparse.Namespace, config: RetrainConfig) -> int:
    with closing(RunFolder(options.run, STEPS)) as folder:
        os.nice(max(0, _NICENESS - os.nice(0)))
        with (
            watched(
                most_mb=options.memory_mb,
                tell=folder.tell,
                give_up=lambda problem: folder.tell(RunState.FAILED, problem),
            ),
            threadpool_limits(options.threads),
        ):
            try:
                use_threads(options.threads)
                return _Run(options, config, folder).run()
            except Exception as error:
                folder.tell(RunState.FAILED, _in_one_line(error))
                raise


def _in_one_line(error: Exception) -> str:
    said = str(error).splitlines()
    return said[0] if said else traceback.format_exception_only(error)[-1].strip()


class _Run(RunSteps):
    """One run, from its first step to its report."""

    def run(self) -> int:
        """Do every step that is not done."""
        ended = self._ended()
        if ended is not None:
            print(f"this run ended: {ended['recommendation']}; see {self._page}")
            return 0
        self.folder.tell()
        self._read()
        self._clean()
        self._split()
        n_taught = len(self.decided.of[Use.TEACH])
        self.folder.expect(
            expected_seconds(self.base, count_steps(n_taught, self.config.teach), self.start)
        )
        if self.options.dry_run:
            return self._report_plan()
        if n_taught < self.config.min_lessons:
            return self._report_nothing_to_learn()
        for name, work in (
            ("fine-tune", self._fine_tune),
            ("export", self._export),
            ("weigh", self._weigh),
            ("embed", self._embed),
            ("evaluate", self._evaluate),
            ("compare", self._compare),
        ):
            if not self.folder.is_done(name):
                self._say(name)
                with self.folder.step(name):
                    work()
        return self._report()

    # The report.

    def _report(self) -> int:
        with self.folder.step("report"):
            comparison = self.folder.read_json("comparison.json")
            report = self._make_report(**comparison)
            name = self._write_version(report)
            self._write_report(self._make_report(version=name, **comparison))
        self.folder.tell(RunState.ENDED)
        print(f"{name}: {comparison['recommendation']}; see {self._page}")
        return 0

    def _write_version(self, report: Report) -> str:
        """Write the candidate as a version, once, whenever this run is cut off; return its name."""
        versions = self.options.versions
        if not (self.folder.path / "version.json").exists():
            stamp = self.folder.started_at[:10].replace("-", "")
            name = free_name(versions, f"retrained-{stamp}")
            self.folder.write_json("version.json", {"version": name})
        name = str(self.folder.read_json("version.json")["version"])
        files = self._files(self._candidate_files())
        weights = {n: content for n, content in files.items() if n != FUSION_FILE}
        if (versions / name).exists():
            if all((versions / name / n).read_bytes() == files[n] for n in weights):
                return name
            # Somebody else's version took the name while this run was cut off.
            (self.folder.path / "version.json").unlink()
            return self._write_version(report)
        fusion = read_members(files, threads=1).fusion
        write_version(
            versions,
            name,
            kind=TransformerClassifier.KIND,
            weights=weights,
            fusion=fusion,
            documents=candidate_documents(self.folder, name, report, self._provenance()),
        )
        return name

    def _provenance(self) -> dict[str, Any]:
        return {
            "from": self.current,
            "start": self.start.value,
            "started_at": self.folder.started_at,
            "code": code_version(),
            "environment": machine(),
            "threads": self.options.threads,
            "seed": self.config.seed,
            "data": {f.name: f.sha256 for f in self.files},
        }

    def _make_report(
        self, recommendation: str | None, *, version: str | None = None, **found: Any
    ) -> Report:
        of = self.decided.of
        return Report(
            version=version,
            current=self.current,
            recommendation=recommendation,
            learnt=Learnt(
                used=len(self.decided.learnt),
                spam=sum(one.example.is_spam for one in self.decided.learnt),
                ham=sum(not one.example.is_spam for one in self.decided.learnt),
                held=len(of[Use.HELD]),
                newest=len(of[Use.NEWEST]),
                set_aside=dict(Counter(self.set_aside.values()).most_common()),
            ),
            seconds=self.folder.seconds(),
            peak_memory_mb=self.folder.peak_memory_mb(),
            **found,
        )

    def _write_report(self, report: Report) -> None:
        texts = {str(e.comment.id): e.comment.text for e in self.base.test}
        texts |= {row.id: row.example.comment.text for row in self.decisions}
        page = report_markdown(report, texts=texts, set_aside=self.set_aside)
        self.folder.write(REPORT_PAGE, page.encode("utf-8", "replace"))
        self.folder.write_json(REPORT_FILE, report_json(report))

    def _report_plan(self) -> int:
        seconds = self.folder.expected_left()
        report = self._make_report(
            None,
            planned_seconds=round(seconds),
            planned_memory_mb=expected_memory_mb(self.base, self.start),
        )
        self._write_report(report)
        self.folder.tell(RunState.ENDED)
        print(f"would learn {report.learnt.used} decisions in about {seconds / 60:.0f} min")
        return 0

    def _report_nothing_to_learn(self) -> int:
        self._write_report(self._make_report("nothing to learn"))
        self.folder.tell(RunState.ENDED)
        print(f"nothing to learn; see {self._page}")
        return 0

    def _ended(self) -> dict[str, Any] | None:
        """Return the report of a run that ended; a dry run has ended nothing."""
        if not (self.folder.path / REPORT_FILE).exists():
            return None
        report = self.folder.read_json(REPORT_FILE)
        if report["recommendation"] is None:
            return None
        self._check_inputs()
        return dict(report)

    @property
    def _page(self) -> Path:
        return self.folder.path / REPORT_PAGE


if __name__ == "__main__":
    sys.exit(main())
