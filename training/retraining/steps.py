"""The steps that make a candidate and hold it against the current version."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np

from models.embedding import EMBEDDING_SIZE, projection_bytes
from models.engine import Engine
from models.linear import LinearTable, read_table, table_bytes
from models.registry import FUSION_FILE
from models.tokens import CommentTokeniser
from models.transformer import (
    CALIBRATION_FILE,
    EMBEDDING_FILE,
    LINEAR_FILE,
    MARKS_FILE,
    NAMES_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    TransformerClassifier,
    calibration_bytes,
)
from models.view import view_text
from training.data.dataset import Example
from training.fit.embed import fit_embedding
from training.fit.evidence import signal_strengths
from training.fit.joining import fit_linear, fit_marks, fit_names
from training.fit.measured import ALL_EVIDENCE
from training.fit.members import Members, engine_of, read_members
from training.fit.reading import (
    Read,
    labels,
    read_inputs,
)
from training.fit.rounding import compare_rounding, draw_to_compare, network_reader
from training.network.finetune_on_decisions import finetune_on_decisions, repeat_for_linear
from training.network.from_version import load_from_version
from training.network.packaged_e5 import read_tokeniser
from training.retraining.candidate import (
    WeighedCandidate,
    export_from_base,
    fine_tune_from_base,
    fusion_bytes,
    update_candidate,
    weigh_candidate,
    write_cards,
)
from training.retraining.compare import Check, compare
from training.retraining.config import Start
from training.retraining.decided_parts import Use
from training.retraining.inputs import RunInputs
from training.retraining.parts import compared_part
from training.retraining.phrase_check import check_phrases, phrases_from_json, trigger_check
from training.retraining.update import correct_linear


class RunSteps(RunInputs):
    """What a run does once it knows what to learn from; each step leaves files in its folder."""

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
                self.parts,
                self.dataset,
                of,
                self.tokeniser_json.decode(),
                self.config,
                checkpoint,
                tell,
            )
            return network, None
        network, served = self._current_network()
        before = copy.deepcopy(network)
        finetune_on_decisions(
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
        return load_from_version(files[NETWORK_FILE], files[WEIGHTS_FILE])

    def _export(self) -> None:
        network, served = self._tuned()
        if served is not None:
            # What names and words of promotion say stays the current version's.
            files = self.current_files
            self._write({n: files[n] for n in (NAMES_FILE, MARKS_FILE) if n in files})
            xml, weights = served.write(network)
        else:
            xml, weights = export_from_base(network, self.parts, self.tokeniser, self.config)
        self._write({NETWORK_FILE: xml, WEIGHTS_FILE: weights})

    @cached_property
    def tokeniser_json(self) -> bytes:
        if self.start is Start.BASE:
            texts = (view_text(e.comment.text).text for e in self.parts.train)
            return read_tokeniser(texts).encode("utf-8")
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
        found = self._refit() if self.start is Start.BASE else self._update()
        self._write(
            {
                LINEAR_FILE: table_bytes(found.linear),
                CALIBRATION_FILE: calibration_bytes(found.calibration),
                TOKENISER_FILE: self.tokeniser_json,
                FUSION_FILE: fusion_bytes(found.outcome.weighed.fusion),
            }
        )
        write_cards(
            self.folder,
            found,
            files=self.files,
            rounding=self._rounding(found),
            config=self.current_card["config"] | {"retrain": asdict(self.config)},
        )
        core = found.outcome.parts[0].ways[ALL_EVIDENCE]
        self.folder.write_arrays("core.npz", p_spam=core, strengths=found.outcome.test_strengths)

    def _refit(self) -> WeighedCandidate:
        taught = repeat_for_linear(
            self.base.train, self.decided.of[Use.TEACH], times=self.config.linear_times
        )
        join = self.config.train.join
        names, marks = fit_names(taught, join), fit_marks(taught, join)
        for file, table in ((NAMES_FILE, names), (MARKS_FILE, marks)):
            if table is not None:
                self._write({file: table_bytes(table)})
        linear, reads = self._read_both(fit_linear(taught, join), names, marks)
        return weigh_candidate(self.parts, reads, linear, self.config, tell=self._say)

    def _update(self) -> WeighedCandidate:
        current, config = self._current_members(), self.config.update
        taught = self.decided.of[Use.TEACH]
        examples = [one.example for one in taught]
        rng = np.random.default_rng(self.config.seed)
        drawn = rng.permutation(len(self.base.train))[: config.replayed]
        linear = correct_linear(
            current.linear,
            examples,
            np.array([one.weight for one in taught]),
            current.read(examples),
            [self.base.train[i] for i in np.sort(drawn).tolist()],
            current.calibration,
            config,
        )
        linear, reads = self._read_both(linear, current.names, current.marks)
        return update_candidate(
            self.parts,
            reads,
            current.read(self.parts.calibration),
            linear,
            current,
        )

    def _read_both(
        self, linear: LinearTable, names: LinearTable | None, marks: LinearTable | None
    ) -> tuple[LinearTable, tuple[Read, Read]]:
        """Return the table as it will be read, and what the members say of both held-out parts."""
        # Read back, so that what is measured is what serves, whichever process goes on.
        linear = read_table(table_bytes(linear))
        self.folder.advance(0.2)
        engine = self.engine
        read, read_test = (
            read_inputs([e.input for e in part], engine, self.tokeniser, linear, names, marks)
            for part in (self.parts.calibration, self.parts.test)
        )
        self.folder.advance(0.5)
        return linear, (read, read_test)

    def _rounding(self, found: WeighedCandidate) -> dict[str, Any]:
        """Return what rounding the first network to int8 changes on some of the test part."""
        files = self._files((NETWORK_FILE, WEIGHTS_FILE))
        if self.start is Start.BASE:
            exits = self._tuned()[0]
            network = exits.cut(exits.exits[0])
        else:
            network, _ = load_from_version(files[NETWORK_FILE], files[WEIGHTS_FILE])
        some = draw_to_compare(len(self.base.test), self.config.rounding_comments, self.config.seed)
        examples = [self.base.test[i] for i in some]
        exact = replace(self._candidate(), engine=network_reader(network, exact=True))
        return compare_rounding(
            exact.p_spam(examples, signal_strengths(examples)),
            found.outcome.parts[0].ways[ALL_EVIDENCE][some],
            labels(examples),
            found.outcome.weighed.fusion,
        )

    def _candidate(self) -> Members:
        return read_members(self._files(self._candidate_files()), threads=self.options.threads)

    def _candidate_files(self) -> list[str]:
        """Return the names of the candidate's files that are there by now."""
        names = (*TransformerClassifier.FILES, *TransformerClassifier.MORE_FILES, FUSION_FILE)
        return [name for name in names if (self.folder.path / "candidate" / name).exists()]

    def _embed(self) -> None:
        if self.start is Start.CURRENT and EMBEDDING_FILE in self.current_files:
            # The same directions, so that comments of before and after still meet.
            self._write({EMBEDDING_FILE: self.current_files[EMBEDDING_FILE]})
            self.folder.write_json("embedding.json", self.current_card["embedding"])
            return
        if len(self.parts.train) <= EMBEDDING_SIZE:
            return
        train = self.parts.train
        drawn = draw_to_compare(len(train), self.config.embedding_comments, self.config.seed)
        made, facts = fit_embedding(self.engine, self.tokeniser, [train[i] for i in drawn])
        self._write({EMBEDDING_FILE: projection_bytes(made)})
        self.folder.write_json("embedding.json", facts)

    # The comparison.

    def _evaluate(self) -> None:
        core = self.folder.read_arrays("core.npz")
        current = self._current_members()
        candidate = self._candidate()
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
        found = check_phrases(
            self.decided.of[Use.TEACH],
            phrases_from_json(self.folder.read_json("cleaned.json")["phrases"]),
            self.base.test,
            (current, candidate),
        )
        told = {
            "check": asdict(trigger_check(found)),
            "tried": [asdict(one) for one in found.phrases],
        }
        self.folder.write_json("phrases.json", told)

    def _compared_decisions(self) -> list[Example]:
        return [one.example for use in Use for one in self.decided.of[use]]

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
            others=[Check(**self.folder.read_json("phrases.json")["check"])],
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
