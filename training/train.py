"""Trains one version: a network beside linear members, joined and calibrated.

Reads top to bottom: settings, data, a rotation in which whole sources are left out in turn, what
is fitted on its answers, then the members that learn from everything, and the card.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from models.embedding import projection_bytes
from models.features import count_vectors
from models.linear import table_bytes
from models.promotion import promotion_by_words
from models.registry import SHIPPED_DIR, check_free, free_name, promote, write_version
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
    Calibration,
    TransformerClassifier,
    calibration_bytes,
    name_log_odds,
)
from models.view import view_text
from service.scoring.conclude import logistic
from training.card.figures import measure
from training.card.fingerprint import find_same, fingerprint
from training.card.version_card import VersionCard, card_json, card_markdown
from training.command import exit_code_of
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import (
    DEFAULT_DATA,
    Dataset,
    Example,
    read_dataset,
)
from training.data.partition import AUTHORED, SEED, Partition, partition
from training.data.rotation import (
    ALWAYS_TEACHES,
    OTHER_PLACES,
    IntArray,
    RotationConfig,
    assign_rotation,
    teaching_of,
)
from training.data.training_examples import TrainingExample
from training.fit.embed import embed_network
from training.fit.evidence import signal_strengths
from training.fit.evidence_table import Way, measure_ways, signals_alone
from training.fit.fuse import fit_platt
from training.fit.joining import (
    JoinConfig,
    calibrate,
    fit_linear,
    fit_marks,
    fit_names,
)
from training.fit.kept_reads import (
    LinearSaid,
    join_reads,
    linear_said_bytes,
    read_bytes,
    read_from,
    read_linear_said,
    take_rows,
)
from training.fit.measured import Measured
from training.fit.members import Members, engine_of
from training.fit.reading import (
    Read,
    labels,
    logistic_of,
    measure_part,
    p_spam_of,
    read_inputs,
    read_network,
    voice_strengths,
)
from training.fit.rounding import (
    BEFORE_ROUNDING,
    WEIGHTS_ON_GRID,
    compare_rounding,
    draw_to_compare,
    network_reader,
)
from training.fit.tfidf import TfidfFilter
from training.fit.weighing import (
    Evidence,
    WeighConfig,
    Weighed,
    weigh,
    weigh_voice,
)
from training.network.encoder import Network, read_tokeniser
from training.network.exits import ExitNetwork
from training.network.finetune import FineTuneConfig, Progress
from training.network.from_version import load_from_version
from training.network.packaged_e5 import E5
from training.network.pooling import LAYER
from training.network.quantisation_aware import export_quantisation_aware
from training.network.tune import (
    Plan,
    TuneConfig,
    new_network,
    plan_training_examples,
    tune,
    voice_training_examples,
)
from training.network.warm_start import WarmStart, read_warm_start

# The run in which nothing is left out.
FINAL = "final"
# The parts that a card tells of: comments under posts, and what is said elsewhere.
OUT_OF_FOLD, OTHER = "out of fold", "other places"
# Fewer texts of either kind are no ground to say anything on.
_MIN_VOICE_TEXTS = 20
# Fewer real comments of either label can promise nothing; then authored ones must.
_MIN_REAL = 1_000

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """Every knob, with its reason."""

    # Any number does; it only has to stay the same for a run to be repeated.
    seed: int = SEED
    base: str = E5
    # The version whose networks are gone on with in place of the base, by name.
    warm_start: str | None = None
    rotation: RotationConfig = field(default_factory=RotationConfig)
    # Linear members are fitted in minutes, so each of their folds leaves less out: what is said
    # of a comment is then nearer to what the members say that have learnt everything.
    linear_folds: int = 10
    tune: TuneConfig = field(default_factory=TuneConfig)
    # Texts that calibrate LLM voice, and as many again that it is measured on.
    voice_calibration_texts: int = 300
    # Windows that fix the ranges of int8 activations, and how a network then learns on that grid.
    int8_windows: int = 300
    on_grid: FineTuneConfig = field(
        default_factory=lambda: FineTuneConfig(
            epochs=0.05, learning_rate=5e-5, warm_up=0.1, weight_decay=0.0, dropout=False
        )
    )
    # The linear members and how all members join.
    join: JoinConfig = field(default_factory=JoinConfig)
    # On so many comments the int8 networks are compared with those they were rounded from.
    rounding_comments: int = 3_000
    # So many comments fix the embedding's directions.
    embedding_comments: int = 8_000
    # Weights of the signals, cutoffs and their promises.
    weigh: WeighConfig = field(default_factory=WeighConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfFold:
    """What members that never saw its source say of a comment. One row a comment."""

    # Where the comments stand among all, in rising order.
    rows: IntArray
    read: Read
    tfidf: FloatArray


class Training:
    """One run over one data set; every stage leaves a file, so that it can be gone on with."""

    def __init__(
        self,
        dataset: Dataset,
        config: TrainConfig,
        folder: Path,
        warm_start: WarmStart | None = None,
    ) -> None:
        self.dataset, self.config, self.folder = dataset, config, folder
        self.examples, self.warm_start = dataset.examples, warm_start

    @cached_property
    def parts(self) -> Partition:
        """Return the parts that a retraining keeps apart."""
        return partition(self.dataset, seed=self.config.seed)

    @cached_property
    def judged(self) -> BoolArray:
        """Return which comments the figures are of: nothing of theirs was learnt beforehand."""
        if self.warm_start is None:
            return np.ones(len(self.examples), dtype=np.bool_)
        return self.warm_start.never_learnt(self.examples, self.parts)

    @cached_property
    def folds(self) -> IntArray:
        """Return the fold of each comment."""
        return assign_rotation(self.examples, self.config.rotation, self.judged)

    @cached_property
    def tokeniser_json(self) -> str:
        """Return the tokeniser's file; its pieces are those that the comments need."""
        if self.warm_start is not None:
            return self.warm_start.tokeniser_json
        path = self.folder / TOKENISER_FILE
        if not path.exists():
            texts = (
                view_text(text).text
                for e in self.examples
                for text in (e.comment.text, e.input.post_title, e.input.author_name)
            )
            _write(path, read_tokeniser(self.config.base, texts).encode("utf-8"))
        return path.read_text("utf-8")

    @property
    def stages(self) -> list[str]:
        """Return the networks that are trained, by name: one a fold, and the last on everything."""
        return [*(str(fold) for fold in range(self.config.rotation.n_folds)), FINAL]

    def teaching(self, stage: str) -> list[int]:
        """Return the positions of the comments that a stage learns from."""
        return teaching_of(self.examples, self.folds, None if stage == FINAL else int(stage))

    def plan(self, stage: str, teaching: Sequence[int]) -> Plan:
        """Return what a stage's network learns from, in order."""
        return plan_training_examples(
            self.examples,
            teaching,
            self.dataset.texts,
            self.config.tune,
            self.config.rotation,
            name=stage,
        )

    def network(self, stage: str) -> tuple[Network, float]:
        """Return a stage's network as it serves, trained, and the seconds that took."""
        config = self.config.tune
        network = (
            new_network(self.config.base, self.tokeniser_json, config)
            if self.warm_start is None
            else self.warm_start.load()
        )
        seconds = tune(
            network,
            self.plan(stage, self.teaching(stage)),
            self.tokeniser_json,
            config,
            seed=config.seed + (0 if stage == FINAL else int(stage)),
            checkpoint=self.folder / f"{stage}.pt",
            tell=partial(tell_progress, stage),
        )
        # The later exit has taught the first, which alone ships.
        if isinstance(network, ExitNetwork):
            return network.cut(network.exits[0]), seconds
        network.encoder.set_attn_implementation("sdpa")
        return network, seconds

    def out_of_fold(self) -> OutOfFold:
        """Return what the members of each fold say of the comments that it left out."""
        held = [self.held_out(fold) for fold in range(self.config.rotation.n_folds)]
        rows = np.concatenate([np.flatnonzero(self.folds == fold) for fold in range(len(held))])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        said, by_words = self._linear_out_of_fold()
        linear, names, tfidf = said[:, rows]
        read = replace(
            take_rows(join_reads(held), order),
            linear=linear,
            names=names,
            by_words=[by_words[i] for i in rows],
        )
        return OutOfFold(rows=rows, read=read, tfidf=tfidf)

    def _linear_out_of_fold(self) -> tuple[FloatArray, list[Sequence[float]]]:
        """Return what linear members and TF-IDF say that never saw a comment's source.

        A row each of linear member, names and TF-IDF, with a column a comment; and for each comment
        what its segments' words say of promotion.
        """
        said = np.zeros((3, len(self.linear_folds)))
        by_words: list[Sequence[float]] = [()] * len(self.linear_folds)
        for fold in self.stages_of_linear:
            rows = np.flatnonzero(self.linear_folds == fold)
            held = self.linear_held_out(fold)
            said[:, rows] = held.said
            for i, words in zip(rows, held.by_words, strict=True):
                by_words[i] = words
        return said, by_words

    @cached_property
    def linear_folds(self) -> IntArray:
        """Return the fold of each comment for the linear members."""
        rotation = replace(self.config.rotation, n_folds=self.config.linear_folds)
        return assign_rotation(self.examples, rotation, self.judged)

    @property
    def stages_of_linear(self) -> list[int]:
        """Return the folds of the linear members that leave anything out."""
        return [int(f) for f in np.unique(self.linear_folds) if f != ALWAYS_TEACHES]

    def linear_held_out(self, fold: int) -> LinearSaid:
        """Return what a fold's linear members and TF-IDF say of the comments that it leaves out."""
        path = self.folder / f"linear-{fold}.npz"
        if not path.exists():
            _write(path, linear_said_bytes(self._fold_of_linear(fold)))
        return read_linear_said(path.read_bytes())

    def _fold_of_linear(self, fold: int) -> LinearSaid:
        folds = self.linear_folds
        examples = [self.examples[i] for i in np.flatnonzero(folds == fold)]
        taught = [self.examples[i] for i in teaching_of(self.examples, folds, fold)]
        _say(f"linear fold {fold}: linear members and TF-IDF on {len(taught):,} comments")
        join = self.config.join
        linear = fit_linear(taught, join, self.dataset.texts)
        names, marks = fit_names(taught, join), fit_marks(taught, join)
        said = [
            [linear.highest_of(count_vectors(e.input)) for e in examples],
            [name_log_odds(e.input, names) for e in examples],
            TfidfFilter(taught).log_odds(examples),
        ]
        return LinearSaid(
            said=np.array(said),
            by_words=[
                promotion_by_words(marks, e.input) if marks is not None else () for e in examples
            ],
        )

    def held_out(self, fold: int) -> Read:
        """Return what a fold's network says of the comments that it leaves out, in their order."""
        examples = [self.examples[i] for i in np.flatnonzero(self.folds == fold)]
        path = self.folder / f"held-{fold}.npz"
        tokeniser = CommentTokeniser(self.tokeniser_json)
        if not path.exists():
            network, _ = self.network(str(fold))
            _say(f"fold {fold}: reading {len(examples):,} comments")
            read = read_network([e.input for e in examples], network_reader(network), tokeniser)
            _write(path, read_bytes(read))
        windows = [tokeniser.windows(e.input) for e in examples]
        return read_from(path.read_bytes(), windows)


def _write(path: Path, content: bytes) -> None:
    """Write a file that is whole or not there."""
    staged = path.with_suffix(".writing")
    staged.write_bytes(content)
    staged.replace(path)


# The run that a process of a pool works for.
_run_here: Training | None = None


def _begin_process(
    data: Sequence[Path],
    config: TrainConfig,
    folder: Path,
    warm_start: WarmStart | None,
    threads: int,
) -> None:
    global _run_here  # what a pool's process starts with can only be kept so
    torch.set_num_threads(threads)
    _run_here = Training(_read_data(data), config, folder, warm_start)


def _prepare_here(kind: str, of: str) -> None:
    """Do what takes long, in a process of its own; what it finds is left in the run's folder."""
    if _run_here is None:
        raise RuntimeError("a pool's process must begin with the run that it works for")
    if kind == "linear":
        _run_here.linear_held_out(int(of))
    elif of == FINAL:
        _run_here.network(FINAL)
    else:
        _run_here.held_out(int(of))


def _read_data(data: Sequence[Path]) -> Dataset:
    return read_dataset(data, corrections=LABEL_CORRECTIONS)


def tell_progress(stage: str, progress: Progress) -> None:
    """Say on standard error how far a stage of a run is, now and then."""
    if progress.step % 50 == 0 or progress.step == progress.steps:
        _say(
            f"{stage}: step {progress.step} of {progress.steps}, loss {progress.loss:.3f}, "
            f"{progress.seconds_left / 60:.0f} min left"
        )


def _say(said: str) -> None:
    print(said, file=sys.stderr, flush=True)


def calibrate_voice(
    training_examples: Sequence[TrainingExample], voice: FloatArray, config: TrainConfig
) -> tuple[tuple[float, float], Measured | None]:
    """Return slope and offset of the head for LLM voice, and what it is worth on other texts.

    Both from texts that it was not taught with. Without enough of both kinds the slope is 0:
    the head says nothing.
    """
    is_machine = np.array([bool(one.is_llm_voice) for one in training_examples], dtype=np.bool_)
    n = config.voice_calibration_texts
    fitted, held = is_machine[:n], is_machine[n : 2 * n]
    if min(fitted.sum(), (~fitted).sum(), held.sum(), (~held).sum()) < _MIN_VOICE_TEXTS:
        return (0.0, 0.0), None
    slope, offset = fit_platt(voice[:n], fitted)
    p = np.array([logistic(slope * float(v) + offset) for v in voice[n : 2 * n]])
    return (slope, offset), measure(held, p)


def main(arguments: Sequence[str] | None = None, config: TrainConfig | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    return exit_code_of(lambda: _train_version(options, config or TrainConfig()))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.train", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        default=[],
        help="further data files (.jsonl, .jsonl.gz) or folders of them, beside the repository's",
    )
    parser.add_argument(
        "--no-own-data", action="store_true", help="leave out the repository's: only --data"
    )
    parser.add_argument("--out", type=Path, default=SHIPPED_DIR, help="folder of versions")
    parser.add_argument("--name", help="the version's name; of its encoder and the day by default")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--base", help="a pretrained encoder, folder or id; else packaged")
    start.add_argument(
        "--warm-start",
        type=Path,
        metavar="FOLDER",
        help="a version whose network is gone on with; only what it has not learnt is judged by",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="so many members are trained at once, cores shared"
    )
    parser.add_argument("--promote", action="store_true", help="make it the current version")
    parser.add_argument("--force", action="store_true", help="train even if nothing changed")
    options = parser.parse_args(arguments)
    if options.no_own_data and not options.data:
        parser.error("--no-own-data leaves nothing to train on: name files with --data")
    if options.jobs < 1:
        parser.error("--jobs must be 1 or more")
    return options


def _train_version(options: argparse.Namespace, config: TrainConfig) -> int:
    if options.name:
        check_free(options.out, options.name)
    warm_start = read_warm_start(options.warm_start) if options.warm_start else None
    config = replace(
        config,
        base=options.base or config.base,
        warm_start=warm_start.name if warm_start else None,
    )
    data = [*([] if options.no_own_data else [DEFAULT_DATA]), *options.data]
    dataset = _read_data(data)
    mark = fingerprint(dataset.files, asdict(config))
    same = None if options.force or options.name else find_same(options.out, mark)
    if same is not None:
        if options.promote:
            promote(options.out, same)
        print(f"nothing changed since {same} was trained: kept (--force trains again)")
        return 0
    folder = options.out / f".training-{mark[:16]}"
    run = Training(dataset, config, folder, warm_start)
    _check_labels(run)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    _say(f"{len(dataset.examples):,} comments, {config.rotation.n_folds} folds")
    _prepare(run, data, options.jobs)
    made = _make_version(run)

    now = datetime.now(UTC)
    family = warm_start.name.partition("-")[0] if warm_start else "e5"
    version = options.name or free_name(options.out, f"{family}-{now:%Y%m%d}")
    card = replace(
        made.card,
        version=version,
        trained_at=now,
        seconds=made.card.seconds + time.monotonic() - began,
        fingerprint=mark,
    )
    written = write_version(
        options.out,
        version,
        kind=TransformerClassifier.KIND,
        weights=made.files,
        fusion=card.fusion,
        documents={"card.json": card_json(card), "card.md": card_markdown(card)},
    )
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    if options.promote:
        promote(options.out, version)
    state = "promoted" if options.promote else "not promoted"
    print(f"{written}: trained in {card.seconds / 60:.1f} min, {state}; see its card.md")
    return 0


def _check_labels(run: Training) -> None:
    """Raise `ValueError` unless each fold leaves both labels to learn from and to be judged by."""
    is_spam = labels(run.examples)
    if run.warm_start is not None and len(np.unique(is_spam[run.judged])) < 2:
        msg = (
            f"{run.warm_start.name} has learnt so much of the data that no spam or no ham is left "
            "to judge by: start from an older version, or name more files with --data"
        )
        raise ValueError(msg)
    for fold in range(run.config.rotation.n_folds):
        for name, rows in (("left out", run.folds == fold), ("left", run.folds != fold)):
            n_spam = int(is_spam[rows].sum())
            if n_spam in (0, int(rows.sum())):
                msg = (
                    f"fold {fold} needs spam and ham among the comments {name}, got {n_spam} spam "
                    f"among {int(rows.sum())}: name more files with --data"
                )
                raise ValueError(msg)


def _prepare(run: Training, data: Sequence[Path], jobs: int) -> None:
    """Train what folds and the last network need and is not there yet, so many at once."""
    _ = run.tokeniser_json
    if jobs == 1:
        # Each is trained where it is needed.
        return
    work = [("network", stage) for stage in run.stages]
    work += [("linear", str(fold)) for fold in run.stages_of_linear]
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("spawn"),
        _begin_process,
        (data, run.config, run.folder, run.warm_start, threads),
    ) as pool:
        for done in [pool.submit(_prepare_here, *one) for one in work]:
            done.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A version's files, and its card but for what only the command knows."""

    files: Mapping[str, bytes]
    card: VersionCard


def _make_version(run: Training) -> Made:
    config, examples = run.config, run.examples
    tokeniser = CommentTokeniser(run.tokeniser_json)
    out_of_fold = run.out_of_fold()

    # What ships has learnt everything.
    teaching = run.teaching(FINAL)
    taught = [examples[i] for i in teaching]
    _say(f"the linear members on {len(taught):,} comments")
    linear = fit_linear(taught, config.join, run.dataset.texts)
    names, marks = fit_names(taught, config.join), fit_marks(taught, config.join)
    network, seconds = run.network(FINAL)
    _say("rounding to int8")
    xml, weights = export_quantisation_aware(
        network, taught, tokeniser, config.on_grid, windows=config.int8_windows, seed=config.seed
    )
    embedded = embed_network(
        xml,
        weights,
        tokeniser,
        [examples[i] for i in _drawn(teaching, config.embedding_comments, config.seed)],
        run.parts,
        layer=min(LAYER, network.encoder.config.num_hidden_layers - 1),
    )
    engine = engine_of(embedded.network, weights)

    # How everything joins is fitted on what the folds say of what they left out.
    voices = voice_training_examples(run.dataset.texts, config.tune.seed)[config.tune.voice_texts :]
    voices = voices[: 2 * config.voice_calibration_texts]
    read_voice = read_inputs([one.input for one in voices], engine, tokeniser, linear)
    voice, voice_measured = calibrate_voice(voices, read_voice.voice, config)
    under_posts = np.array([e.source not in OTHER_PLACES for e in examples], dtype=np.bool_)
    held, elsewhere = (
        _Held.of(run, out_of_fold, rows & run.judged) for rows in (under_posts, ~under_posts)
    )
    calibration = calibrate(
        held.read, held.examples, voice, config.join, is_real=_are_real(held.examples)
    )
    _say("looking with every detector, fitting weights")
    evidence = held.evidence(calibration)
    weighed = weigh(evidence, config.weigh)
    _say("measuring")
    measured = [
        measure_part(
            OUT_OF_FOLD,
            held.examples,
            held.read,
            evidence.strengths,
            calibration,
            weighed.fusion,
            p_spam=weighed.out_of_fold,
        )
    ]
    if elsewhere.examples:
        strengths = elsewhere.evidence(calibration).strengths
        measured.append(
            measure_part(
                OTHER,
                elsewhere.examples,
                elsewhere.read,
                strengths,
                calibration,
                weighed.fusion,
            )
        )
    members = Members(
        engine=engine,
        tokeniser=tokeniser,
        linear=linear,
        calibration=calibration,
        fusion=weighed.fusion,
        names=names,
    )
    ways = _ways(held, evidence, weighed, config)
    rounding = _measure_rounding(run, members, network, (embedded.network, weights))
    card = VersionCard(
        version="",
        trained_at=datetime.now(UTC),
        seconds=seconds,
        fingerprint="",
        config=asdict(config),
        files=run.dataset.files,
        partition=run.parts,
        fusion=weighed.fusion,
        evidence=measure_ways(ways, evidence, evidence, config.weigh),
        calibration=calibration,
        voice=voice_measured,
        voice_weight=weigh_voice(evidence, voice_strengths(held.read, calibration), config.weigh),
        rounding=rounding,
        parts=measured,
        rotation=_rotation_facts(run, held, weighed),
        embedding=embedded.facts,
    )
    files = {
        NETWORK_FILE: embedded.network,
        WEIGHTS_FILE: weights,
        TOKENISER_FILE: run.tokeniser_json.encode("utf-8"),
        LINEAR_FILE: table_bytes(linear),
        CALIBRATION_FILE: calibration_bytes(calibration),
        EMBEDDING_FILE: projection_bytes(embedded.projection),
    }
    if names is not None:
        files[NAMES_FILE] = table_bytes(names)
    if marks is not None:
        files[MARKS_FILE] = table_bytes(marks)
    return Made(files=files, card=card)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """Some comments with what members that never saw their source say of them."""

    examples: tuple[Example, ...]
    read: Read
    tfidf: FloatArray
    folds: IntArray

    @classmethod
    def of(cls, run: Training, found: OutOfFold, wanted: BoolArray) -> _Held:
        """Return those comments that are wanted."""
        places = np.flatnonzero(wanted[found.rows])
        return cls(
            examples=tuple(run.examples[i] for i in found.rows[places]),
            read=take_rows(found.read, places),
            tfidf=found.tfidf[places],
            folds=run.linear_folds[found.rows[places]],
        )

    def evidence(self, calibration: Calibration) -> Evidence:
        """Return what the model and every detector say."""
        return Evidence(
            examples=self.examples,
            model_p_spam=p_spam_of(self.read, calibration),
            strengths=signal_strengths(self.examples),
            is_promised=_are_promised(self.examples),
            folds=self.folds,
        )


def _are_real(examples: Sequence[Example]) -> BoolArray | None:
    """Say which comments were found, not written to be hard; None where too few were found."""
    return _if_enough([not e.source.startswith(AUTHORED) for e in examples], examples)


def _are_promised(examples: Sequence[Example]) -> BoolArray | None:
    """Say which comments were found and decided by their blog's people as by readers.

    What those people let through has got past the very ones whom a doubt would ask.
    """
    return _if_enough(
        [not (e.source.startswith(AUTHORED) or e.is_corrected) for e in examples], examples
    )


def _if_enough(chosen: Sequence[bool], examples: Sequence[Example]) -> BoolArray | None:
    rows, is_spam = np.array(chosen, dtype=np.bool_), labels(examples)
    return rows if min((rows & is_spam).sum(), (rows & ~is_spam).sum()) >= _MIN_REAL else None


def _ways(
    held: _Held,
    evidence: Evidence,
    weighed: Weighed,
    config: TrainConfig,
) -> list[Way]:
    """Return the ways of judging that a card compares, each by its out-of-fold scores."""
    named = {
        "all evidence": weighed.out_of_fold,
        "model alone": evidence.model_p_spam,
        "linear member alone": logistic_of(held.read.linear),
        "signals alone": signals_alone(evidence, config.weigh),
        "TF-IDF": logistic_of(held.tfidf),
    }
    return [Way(name=name, calibration=p, test=p) for name, p in named.items()]


def _rotation_facts(run: Training, held: _Held, weighed: Weighed) -> Measured:
    """Return what was left out in turn, and the worst fold."""
    pairs = [(run.examples[i], int(run.folds[i])) for i in np.flatnonzero(run.judged)]
    sources = {
        str(fold): sorted({e.source for e, of in pairs if of == fold})
        for fold in range(run.config.rotation.n_folds)
    }
    fold_of = {e.comment.id: fold for e, fold in pairs}
    return {
        "n_folds": run.config.rotation.n_folds,
        "n_linear_folds": run.config.linear_folds,
        "sources": sources,
        "learnt_by": {stage: len(run.teaching(stage)) for stage in run.stages},
        "worst_fold": _worst_fold(
            held, np.array([fold_of[e.comment.id] for e in held.examples]), weighed
        ),
    }


def _worst_fold(held: _Held, folds: IntArray, weighed: Weighed) -> dict[str, Measured]:
    """Return the fold of which the most ham is called spam, and the one that loses most spam."""
    is_spam, p_spam, fusion = labels(held.examples), weighed.out_of_fold, weighed.fusion
    wrong = {
        "ham_called_spam": (~is_spam, p_spam >= fusion.spam_cutoff),
        "spam_called_ham": (is_spam, p_spam < fusion.ham_cutoff),
    }
    answer: dict[str, Measured] = {}
    for name, (of_label, called) in wrong.items():
        counts = [
            {"fold": int(f), "hits": int((called & rows).sum()), "count": int(rows.sum())}
            for f in np.unique(folds)
            for rows in [of_label & (folds == f)]
        ]
        answer[name] = max(counts, key=lambda c: c["hits"] / max(1, c["count"]))
    return answer


def _drawn(teaching: Sequence[int], most: int, seed: int) -> list[int]:
    """Return at most so many of the comments that teach, drawn by the seed."""
    return [teaching[i] for i in draw_to_compare(len(teaching), most, seed)]


def _measure_rounding(
    run: Training, members: Members, before: Network, files: tuple[bytes, bytes]
) -> Measured:
    """Return what rounding changed, against the same weights in float32 and those before it."""
    config = run.config
    some = draw_to_compare(len(run.examples), config.rounding_comments, config.seed)
    examples = [run.examples[i] for i in some]
    strengths = signal_strengths(examples)
    served = members.p_spam(examples, strengths)
    on_grid, unrounded = (
        compare_rounding(
            replace(members, engine=network_reader(network, exact=True)).p_spam(
                examples, strengths
            ),
            served,
            labels(examples),
            members.fusion,
            against=against,
        )
        for network, against in (
            (load_from_version(*files)[0], WEIGHTS_ON_GRID),
            (before, BEFORE_ROUNDING),
        )
    )
    return on_grid | {"before_rounding": unrounded}


if __name__ == "__main__":
    sys.exit(main())
