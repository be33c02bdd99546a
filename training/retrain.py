"""Trains a candidate from what was decided here, holds it against the current version, reports.

    python -m training.retrain --decisions FILE.jsonl --run FOLDER --versions FOLDER [--data ...]

Reads top to bottom: what is learnt from, the network, the weights, the embedding, the comparison,
the report. Nothing is promoted. A run that was cut off goes on when started again with the same
command, and ends with the same candidate to the bit.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from models.embedding import EMBEDDING_SIZE, projection_bytes
from models.engine import Engine
from models.linear import read_table, table_bytes
from models.registry import (
    FUSION_FILE,
    MANIFEST_FILE,
    SHIPPED_DIR,
    free_name,
    load_version,
    read_current_name,
    write_version,
)
from models.tokens import CommentTokeniser
from models.transformer import (
    CALIBRATION_FILE,
    EMBEDDING_FILE,
    LINEAR_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    Calibration,
    TransformerClassifier,
)
from training.canaries import trigger_changes
from training.candidate import (
    WeighedCandidate,
    embed_network,
    export_from_base,
    fine_tune_from_base,
    fusion_bytes,
    weigh_candidate,
    write_cards,
)
from training.command import exit_code_of
from training.compare import Check, compare
from training.corrections import LABEL_CORRECTIONS
from training.dataset import DEFAULT_DATA, DataFile, Dataset, Example, read_dataset
from training.decided_parts import DecidedParts, Use, split_decisions
from training.decisions import Decided, read_decisions
from training.evidence import signal_strengths
from training.finetune import Progress
from training.fingerprint import fingerprint
from training.from_version import load_from_version
from training.joining import fit_linear
from training.members import Members, engine_of, read_members
from training.network import read_tokeniser
from training.partition import Partition, partition
from training.provenance import code_version, machine
from training.reading import read_inputs
from training.retrain_config import (
    STEPS,
    RetrainConfig,
    Start,
    expected_memory_mb,
    expected_seconds,
)
from training.retrain_parts import (
    compared_part,
    parts_from_json,
    parts_to_json,
    phrases_from_json,
    phrases_to_json,
    split_from_json,
    split_to_json,
    taught_from_json,
    taught_to_json,
)
from training.retrain_report import (
    Learnt,
    Report,
    candidate_documents,
    report_json,
    report_markdown,
)
from training.run_folder import RunFolder, RunState, digest
from training.teaching import count_steps, repeat_for_linear, teach, use_threads
from training.train import check_labels, measure_rounding
from training.trust import clean_decisions
from training.watch import watched
from training.weigh import card_of, files_of

REPORT_FILE, REPORT_PAGE, SET_ASIDE_FILE = "report.json", "report.md", "set-aside.jsonl"
_NICENESS = 10


def main(arguments: Sequence[str] | None = None, config: RetrainConfig | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error.

    The process ends with 2 where it would take more memory than allowed.
    """
    options = _parse(arguments)
    return exit_code_of(lambda: _retrain(options, config or RetrainConfig()))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.retrain",
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


class _Run:
    """One run; what is computed lies in its folder, what is read is read once a process."""

    def __init__(
        self, options: argparse.Namespace, config: RetrainConfig, folder: RunFolder
    ) -> None:
        self.options, self.config, self.folder = options, config, folder
        self.start = Start(options.start)
        self.current = read_current_name(options.versions)

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

    # What is learnt from.

    @cached_property
    def dataset(self) -> Dataset:
        own = [] if self.options.no_own_data else [DEFAULT_DATA]
        return read_dataset([*own, *self.options.data], corrections=LABEL_CORRECTIONS)

    @cached_property
    def decisions(self) -> tuple[Decided, ...]:
        return read_decisions(self.options.decisions)

    @cached_property
    def current_files(self) -> dict[str, bytes]:
        folder = self.options.versions / self.current
        load_version(folder)
        return files_of(folder) | {FUSION_FILE: (folder / FUSION_FILE).read_bytes()}

    @cached_property
    def current_card(self) -> dict[str, Any]:
        return card_of(self.options.versions / self.current)

    def _read(self) -> None:
        self._say("read")
        with self.folder.step("read"):
            self._check_inputs()
            if not (self.folder.path / "base.json").exists():
                base = partition(self.dataset, seed=self.seed)
                check_labels(base)
                self.folder.write_json("base.json", parts_to_json(base))

    @property
    def seed(self) -> int:
        return int(self.current_card["config"]["seed"])

    @cached_property
    def files(self) -> tuple[DataFile, ...]:
        """Return everything that is learnt from, by fingerprint; the decisions last."""
        sha256 = digest(self.options.decisions)
        n_spam = sum(row.example.is_spam for row in self.decisions)
        decided = DataFile(
            name="decisions.jsonl",
            sha256=sha256,
            n_spam=n_spam,
            n_ham=len(self.decisions) - n_spam,
            n_unlabelled=0,
        )
        return (*self.dataset.files, decided)

    def _check_inputs(self) -> None:
        manifest = self.options.versions / self.current / MANIFEST_FILE
        self.folder.keep_inputs(
            {
                "--data": {f.name: f.sha256 for f in self.files[:-1]},
                "--decisions": self.files[-1].sha256,
                "--start": self.start.value,
                "--threads": self.options.threads,
                "current version": [self.current, digest(manifest)],
                "settings": asdict(self.config),
                "code": fingerprint((), {}),
            }
        )

    @cached_property
    def base(self) -> Partition:
        return parts_from_json(self.folder.read_json("base.json"), self.dataset.examples)

    def _clean(self) -> None:
        if self.folder.is_done("clean"):
            return
        self._say("clean")
        with self.folder.step("clean"):
            examples = [row.example for row in self.decisions]
            strengths = signal_strengths(examples)
            p_spam = self._current_members().p_spam(examples, strengths)
            of_id = {e.comment.id: float(p) for e, p in zip(examples, p_spam, strict=True)}
            cleaned = clean_decisions(self.decisions, base=self.base.train, p_spam=of_id)
            self.folder.write_json("current-p-spam.json", of_id)
            aside = {one.id: one.reason.value for one in cleaned.set_aside}
            self.folder.write_json(
                "cleaned.json",
                {
                    "lessons": taught_to_json(cleaned.lessons),
                    "phrases": phrases_to_json(cleaned.phrases),
                    "set_aside": aside,
                },
            )
            self._write_set_aside(aside)

    def _split(self) -> None:
        if self.folder.is_done("split"):
            return
        self._say("split")
        with self.folder.step("split"):
            cleaned = self.folder.read_json("cleaned.json")
            lessons = taught_from_json(cleaned["lessons"], self.decisions)
            decided = split_decisions(
                lessons,
                self.base,
                min_newest=self.config.criteria.min_part,
                min_to_calibrate=self.config.min_to_calibrate,
                calibration_share=self.config.calibration_share,
                held_share=self.config.held_share,
            )
            self.folder.write_json("split.json", split_to_json(decided))
            self._write_set_aside(cleaned["set_aside"] | decided.set_aside)

    @cached_property
    def decided(self) -> DecidedParts:
        lessons = taught_from_json(self.folder.read_json("cleaned.json")["lessons"], self.decisions)
        return split_from_json(self.folder.read_json("split.json"), lessons)

    @property
    def set_aside(self) -> dict[str, str]:
        return self.folder.read_json("cleaned.json")["set_aside"] | self.decided.set_aside

    @cached_property
    def parts(self) -> Partition:
        """Return the base corpora's parts with the decisions that are learnt in theirs."""
        of = self.decided.of
        return Partition(
            train=(*self.base.train, *(one.example for one in of[Use.TEACH])),
            calibration=(*self.base.calibration, *(one.example for one in of[Use.CALIBRATE])),
            test=self.base.test,
            dropped={**self.base.dropped, **self.set_aside},
        )

    # The candidate.

    def _fine_tune(self) -> None:
        self._tuned(tell=self._tell_step)

    def _tuned(self, tell: Any = lambda _: None) -> tuple[Any, Any]:
        """Return the fine-tuned network, and what writes it into the graph that it came from.

        It goes on from the last checkpoint; once that is the last step's, nothing is trained.
        """
        checkpoint = self.folder.path / "checkpoint.pt"
        of = self.decided.of[Use.TEACH]
        if self.start is Start.BASE:
            network = fine_tune_from_base(
                self.parts, self.dataset, of, self.tokeniser, self.config, checkpoint, tell
            )
            return network, None
        network, served = self._current_network()
        before, _ = self._current_network()
        teach(
            network,
            served,
            before,
            self.tokeniser,
            of,
            self.base.train,
            self.config.teach,
            seed=self.config.seed,
            checkpoint=checkpoint,
            tell=tell,
        )
        return network, served

    def _current_network(self) -> tuple[Any, Any]:
        files = self.current_files
        return load_from_version(
            files[NETWORK_FILE], files[WEIGHTS_FILE], base=str(self.current_card["config"]["base"])
        )

    def _export(self) -> None:
        network, served = self._tuned()
        if served is not None:
            xml, weights = served.write(network)
        else:
            xml, weights = export_from_base(network, self.parts, self.tokeniser, self.config)
        self._write({NETWORK_FILE: xml, WEIGHTS_FILE: weights})

    @cached_property
    def tokeniser_json(self) -> bytes:
        if self.start is Start.BASE:
            return read_tokeniser(self.config.train.base).encode("utf-8")
        return self.current_files[TOKENISER_FILE]

    @property
    def tokeniser(self) -> CommentTokeniser:
        return CommentTokeniser(self.tokeniser_json.decode("utf-8"))

    @property
    def engine(self) -> Engine:
        """Return the candidate's engine: what follows is about the very network that serves."""
        files = self._files((NETWORK_FILE, WEIGHTS_FILE))
        return engine_of(files[NETWORK_FILE], files[WEIGHTS_FILE], threads=self.options.threads)

    def _weigh(self) -> None:
        parts, config = self.parts, self.config
        linear = fit_linear(
            repeat_for_linear(
                self.base.train, self.decided.of[Use.TEACH], times=config.linear_times
            ),
            config.train.join,
        )
        # Read back, so that what is measured is what serves, whichever process goes on.
        linear = read_table(table_bytes(linear))
        self.folder.advance(0.2)
        engine = self.engine
        read, read_test = (
            read_inputs([e.input for e in part], engine, self.tokeniser, linear)
            for part in (parts.calibration, parts.test)
        )
        self.folder.advance(0.5)
        found = weigh_candidate(
            parts,
            (read, read_test),
            linear,
            self._voice(),
            config,
            tell=self._say,
        )
        self._write(
            {
                LINEAR_FILE: table_bytes(linear),
                CALIBRATION_FILE: json.dumps(asdict(found.calibration), indent=2).encode(),
                TOKENISER_FILE: self.tokeniser_json,
                FUSION_FILE: fusion_bytes(found.outcome.weighed.fusion),
            }
        )
        write_cards(
            self.folder,
            found,
            parts,
            files=self.files,
            rounding=self._rounding(found),
            config=self.current_card["config"] | {"retrain": asdict(config)},
            current_card=self.current_card,
        )
        core = found.outcome.parts[0].scored.all_evidence
        self.folder.write_arrays("core.npz", p_spam=core, strengths=found.outcome.test_strengths)

    def _rounding(self, found: WeighedCandidate) -> dict[str, Any]:
        """Return what rounding to int8 changes on some of the test part."""
        if self.start is Start.BASE:
            network, _ = self._tuned()
        else:
            files = self._files((NETWORK_FILE, WEIGHTS_FILE))
            network, _ = load_from_version(
                files[NETWORK_FILE],
                files[WEIGHTS_FILE],
                base=str(self.current_card["config"]["base"]),
            )
        rng = np.random.default_rng(self.config.seed)
        n_test, n_some = len(self.base.test), self.config.rounding_comments
        some = np.sort(rng.permutation(n_test)[:n_some]).tolist()
        return measure_rounding(
            network,
            [self.base.test[i] for i in some],
            found.outcome.parts[0].scored.all_evidence[some],
            self.tokeniser,
            found.linear,
            found.calibration,
            found.outcome.weighed.fusion,
        )

    def _voice(self) -> tuple[float, float]:
        """Return the calibration of the head for LLM voice: it was kept, or nobody taught it."""
        if self.start is Start.BASE:
            return 0.0, 0.0
        before = Calibration(**json.loads(self.current_files[CALIBRATION_FILE]))
        return before.voice_slope, before.voice_offset

    def _embed(self) -> None:
        if len(self.parts.train) <= EMBEDDING_SIZE:
            return
        files = self._files((NETWORK_FILE, WEIGHTS_FILE))
        made = embed_network(
            files[NETWORK_FILE],
            files[WEIGHTS_FILE],
            self.tokeniser,
            self.parts,
            self.config,
            threads=self.options.threads,
            advance=self.folder.advance,
        )
        self._write({NETWORK_FILE: made.network, EMBEDDING_FILE: projection_bytes(made.projection)})
        self.folder.write_json("embedding.json", made.facts)

    # The comparison.

    def _evaluate(self) -> None:
        core = self.folder.read_arrays("core.npz")
        current = self._current_members()
        candidate = read_members(
            self._files((*TransformerClassifier.FILES, FUSION_FILE)),
            threads=self.options.threads,
        )
        on_core = current.p_spam(self.base.test, core["strengths"])
        self.folder.advance(0.7)
        self._try_phrases(current, candidate)
        self.folder.advance(0.9)
        examples = self._compared_decisions()
        strengths = signal_strengths(examples)
        self.folder.write_arrays(
            "evaluated.npz",
            core_current=on_core,
            core_candidate=core["p_spam"],
            decided_current=current.p_spam(examples, strengths),
            decided_candidate=candidate.p_spam(examples, strengths),
        )

    def _try_phrases(self, current: Members, candidate: Members) -> None:
        """Look whether the candidate learnt to let a phrase settle a verdict."""
        found = trigger_changes(
            self.decided.of[Use.TEACH],
            self.base.test,
            current.outcomes,
            candidate.outcomes,
            phrases=phrases_from_json(self.folder.read_json("cleaned.json")["phrases"]),
        )
        self.folder.write_json("phrases.json", {"passed": found.passed, "says": found.says})

    def _compared_decisions(self) -> list[Example]:
        return [one.example for use in Use for one in self.decided.of[use]]

    def _current_members(self) -> Members:
        return read_members(self.current_files, threads=self.options.threads)

    def _compare(self) -> None:
        said = self.folder.read_arrays("evaluated.npz")
        fusions = [
            json.loads(self.current_files[FUSION_FILE]),
            json.loads(self._files((FUSION_FILE,))[FUSION_FILE]),
        ]
        cutoffs = [(f["ham_cutoff"], f["spam_cutoff"]) for f in fusions]
        of_use = np.array([use for use in Use for _ in self.decided.of[use]], dtype=object)
        decided = self._compared_decisions()

        def of(name: str, uses: Sequence[Use]) -> Any:
            rows = np.isin(of_use, uses)
            return compared_part(
                name,
                [e for e, chosen in zip(decided, rows, strict=True) if chosen],
                (said["decided_current"][rows], said["decided_candidate"][rows]),
                cutoffs,
            )

        parts = [
            compared_part(
                "core", self.base.test, (said["core_current"], said["core_candidate"]), cutoffs
            )
        ]
        if self.decided.of[Use.NEWEST]:
            parts.append(of("newest", [Use.NEWEST]))
        found = compare(
            parts,
            self.config.criteria,
            held=of("held", [Use.HELD]),
            learnt=of("learnt", [Use.TEACH, Use.CALIBRATE]),
            others=[
                Check(
                    part="core",
                    name="no phrase settles a verdict",
                    **self.folder.read_json("phrases.json"),
                )
            ],
        )
        self.folder.write_json(
            "comparison.json",
            {
                "recommendation": "promote" if found.promote else "refuse",
                "checks": [asdict(check) for check in found.checks],
                "gains": list(found.gains),
                "newly_lost": list(found.newly_lost),
                "no_longer_lost": list(found.no_longer_lost),
            },
        )

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
        files = self._files((*TransformerClassifier.FILES, FUSION_FILE))
        embedding = self.folder.path / "candidate" / EMBEDDING_FILE
        if embedding.exists():
            files[EMBEDDING_FILE] = embedding.read_bytes()
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
            lessons=Learnt(
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
        texts = {e.comment.id: e.comment.text for e in self.base.test}
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
        print(f"would learn {report.lessons.used} decisions in about {seconds / 60:.0f} min")
        return 0

    def _report_nothing_to_learn(self) -> int:
        self._write_report(self._make_report("nothing to learn"))
        self.folder.tell(RunState.ENDED)
        print(f"nothing to learn; see {self._page}")
        return 0

    # The run's folder.

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

    def _files(self, names: Sequence[str]) -> dict[str, bytes]:
        return {n: (self.folder.path / "candidate" / n).read_bytes() for n in names}

    def _write(self, files: dict[str, bytes]) -> None:
        for name, content in files.items():
            self.folder.write(f"candidate/{name}", content)

    def _write_set_aside(self, reasons: dict[str, str]) -> None:
        lines = (json.dumps({"id": i, "reason": r}, ensure_ascii=False) for i, r in reasons.items())
        self.folder.write(SET_ASIDE_FILE, "".join(f"{x}\n" for x in lines).encode())

    def _tell_step(self, progress: Progress) -> None:
        self.folder.advance(progress.step / progress.steps, progress.seconds_left)

    def _say(self, said: str) -> None:
        print(said, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
