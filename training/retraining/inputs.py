"""What a retraining run learns from: read, cleaned and split once, and kept as ids."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from models.registry import (
    FUSION_FILE,
    MANIFEST_FILE,
    load_version,
    read_current_name,
)
from training.card.fingerprint import fingerprint
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import (
    DEFAULT_DATA,
    DataFile,
    Dataset,
    read_dataset,
)
from training.data.decisions import Decided, read_decisions
from training.data.partition import Partition, check_labels, partition
from training.fit.evidence import signal_strengths
from training.fit.members import Members, read_members
from training.network.finetune import Progress
from training.retraining.config import RetrainConfig, Start
from training.retraining.decided_parts import DecidedParts, Use, split_decisions
from training.retraining.parts import (
    parts_from_json,
    parts_to_json,
    split_from_json,
    split_to_json,
    taught_from_json,
    taught_to_json,
)
from training.retraining.phrase_check import phrases_to_json
from training.retraining.run_folder import RunFolder, digest
from training.retraining.weigh import card_of, files_of
from training.trust.weights import clean_decisions

REPORT_FILE, REPORT_PAGE, SET_ASIDE_FILE = "report.json", "report.md", "set-aside.jsonl"


class RunInputs:
    """One run; what is computed lies in its folder, what is read is read once a process."""

    def __init__(
        self, options: argparse.Namespace, config: RetrainConfig, folder: RunFolder
    ) -> None:
        self.options, self.config, self.folder = options, config, folder
        self.start = Start(options.start)
        self.current = read_current_name(options.versions)

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

    def _current_members(self) -> Members:
        return read_members(self.current_files, threads=self.options.threads)

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
            of_id = {str(e.comment.id): float(p) for e, p in zip(examples, p_spam, strict=True)}
            cleaned = clean_decisions(self.decisions, base=self.base.train, p_spam=of_id)
            self.folder.write_json("current-p-spam.json", of_id)
            aside = {one.id: one.reason.value for one in cleaned.set_aside}
            self.folder.write_json(
                "cleaned.json",
                {
                    "lessons": taught_to_json(cleaned.training_examples),
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
            training_examples = taught_from_json(cleaned["lessons"], self.decisions)
            decided = split_decisions(
                training_examples,
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
        training_examples = taught_from_json(
            self.folder.read_json("cleaned.json")["lessons"], self.decisions
        )
        return split_from_json(self.folder.read_json("split.json"), training_examples)

    @property
    def set_aside(self) -> dict[str, str]:
        return {**self.folder.read_json("cleaned.json")["set_aside"], **self.decided.set_aside}

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
