"""Trains one version: a network and linear members, joined and calibrated.

Reads top to bottom: settings, data and folds, the members that each fold trains, what is fitted and
measured on their answers, the version, the command.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import safetensors.torch

from models.author import count_name
from models.embedding import projection_bytes
from models.engine import Engine
from models.features import count_vectors
from models.linear import LinearTable, read_table, table_bytes
from models.promotion import promotion_by_words
from models.registry import SHIPPED_DIR, Fusion, check_free, free_name, promote, write_version
from models.tokens import CommentTokeniser
from models.transformer import (
    CALIBRATION_FILE,
    EMBEDDING_FILE,
    LINEAR_FILE,
    MARKS_FILE,
    NAMES_FILE,
    TOKENISER_FILE,
    TORCH_FILE,
    Calibration,
    TransformerClassifier,
    calibration_bytes,
    log_odds_in,
    read_without_ends,
)
from models.view import view_text
from service.domain.comment import Comment, CommentId
from training.arrays import BoolArray, FloatArray, IntArray
from training.card.facts import card_facts, card_json
from training.card.fingerprint import find_same, fingerprint
from training.card.page import card_page
from training.command import exit_code_of
from training.contrasts import COMMENTS_A_LABEL, Judge, draw, measure_contrasts
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import DEFAULT_DATA, Dataset, Example, read_dataset
from training.data.rotation import (
    OTHER_PLACES,
    RotationConfig,
    assign_rotation,
    is_authored,
    training_rows,
)
from training.fit.embed import fit_embedding
from training.fit.evidence import signal_strengths
from training.fit.joining import JoinConfig, calibrate, fit_linear, fit_marks, fit_names
from training.fit.measured import Measured, MeasuredPart
from training.fit.members import Members, engine_of
from training.fit.rounding import compare_rounding, draw_to_compare, network_reader
from training.fit.scores import (
    Scores,
    labels,
    logistic_of,
    measure_part,
    p_spam_of,
    score_network,
    score_windows,
)
from training.fit.stored_scores import (
    LinearScores,
    join_scores,
    linear_scores_bytes,
    read_linear_scores,
    read_scores,
    scores_bytes,
    take_rows,
)
from training.fit.tfidf import tfidf_log_odds
from training.fit.weighing import Evidence, WeighConfig, signals_alone, weigh
from training.network.encoder import Network
from training.network.finetune import FineTuneConfig, Progress
from training.network.packaged_e5 import read_tokeniser
from training.network.quantisation_aware import export_quantisation_aware
from training.network.tune import (
    TuneConfig,
    mean_state,
    new_network,
    plan_training_examples,
    tune,
)

# The packages that change a trained network.
PACKAGES = ("torch", "transformers", "openvino", "tokenizers", "numpy", "scikit-learn")
# The stage in which nothing is left out.
FINAL = "final"
# The parts of a card: comments under posts, and other places.
OUT_OF_FOLD, OTHER = "out of fold", "other places"
# With fewer real comments of a label, authored ones count in the promises too.
_MIN_REAL = 1_000


# Settings.


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig:
    """The settings of a training."""

    # Arbitrary, but fixed, so that a run can be repeated.
    seed: int = 20_260
    rotation: RotationConfig = field(default_factory=RotationConfig)
    tune: TuneConfig = field(default_factory=TuneConfig)
    # Windows that fix the ranges of int8 activations, and the training on that grid.
    int8_windows: int = 300
    on_grid: FineTuneConfig = field(
        default_factory=lambda: FineTuneConfig(
            epochs=0.05,
            learning_rate=5e-5,
            warm_up=0.1,
            weight_decay=0.0,
            promotion_weight=0.5,
        )
    )
    # The linear members and their joining.
    join: JoinConfig = field(default_factory=JoinConfig)
    # The comments on which the int8 network is compared with the unrounded one.
    rounding_comments: int = 3_000
    # The comments that fix the embedding's directions.
    embedding_comments: int = 8_000
    # The comments per label that each contrast edits.
    contrast_comments: int = COMMENTS_A_LABEL
    # Weights of the signals, cutoffs and their promises.
    weigh: WeighConfig = field(default_factory=WeighConfig)


# Data and folds, and each fold's scores of the comments that it left out.


class Training:
    """One run over one data set. Every stage leaves a file, so that the run can be resumed."""

    def __init__(self, dataset: Dataset, config: TrainConfig, folder: Path) -> None:
        self.dataset, self.config, self.folder = dataset, config, folder
        self.examples = dataset.examples
        self._networks: dict[str, tuple[Network, float]] = {}

    @cached_property
    def folds(self) -> IntArray:
        """Return the fold of each comment."""
        return assign_rotation(self.examples, self.config.rotation)

    @property
    def stages(self) -> list[str]:
        """Return the names of the networks to train: one per fold, and the last on everything."""
        return [*(str(fold) for fold in range(self.config.rotation.n_judged)), FINAL]

    @cached_property
    def judged(self) -> IntArray:
        """Return the positions of the comments that are judged out of fold, in order."""
        return np.flatnonzero(self.folds < self.config.rotation.n_judged)

    def training_rows(self, stage: str) -> list[int]:
        """Return the positions of the comments that a stage learns from."""
        return training_rows(self.examples, self.folds, None if stage == FINAL else int(stage))

    @cached_property
    def tokeniser_json(self) -> str:
        """Return the tokeniser's file with the pieces that the comments need."""
        path = self.folder / TOKENISER_FILE
        if not path.exists():
            texts = (
                view_text(text).text
                for e in self.examples
                for text in (e.comment.text, e.input.post_title, e.input.author_name)
            )
            _write(path, read_tokeniser(texts).encode("utf-8"))
        return path.read_text("utf-8")

    def network(self, stage: str) -> tuple[Network, float]:
        """Return a stage's trained network as it serves, and the training's seconds.

        The last one starts with the mean of the folds' networks (model soups, Wortsman et al.
        2022), so a part of an epoch of everything is enough.
        """
        if stage not in self._networks:
            self._networks[stage] = self._train(stage)
        return self._networks[stage]

    def _train(self, stage: str) -> tuple[Network, float]:
        config = self.config.tune
        folds = []
        if stage == FINAL:
            folds = [self.network(fold) for fold in self.stages[:-1]]
            slower = replace(config.fine_tune, learning_rate=config.final_rate)
            config = replace(config, epochs=config.final_epochs, fine_tune=slower)
        plan = plan_training_examples(
            self.examples,
            self.training_rows(stage),
            self.dataset.texts,
            config,
            self.config.rotation,
            name=stage,
        )
        network = new_network(self.tokeniser_json, config)
        if folds:
            network.load_state_dict(mean_state([of_fold for of_fold, _ in folds]))
        seconds = tune(
            network,
            plan,
            self.tokeniser_json,
            config,
            seed=config.seed + (0 if stage == FINAL else int(stage)),
            checkpoint=self.folder / f"{stage}.pt",
            on_progress=partial(print_progress, stage),
        )
        return network, seconds + sum(of_fold for _, of_fold in folds)

    def held_out(self, fold: int) -> Scores:
        """Return the scores of a fold's network for the comments that it left out, in order."""
        examples = [self.examples[i] for i in np.flatnonzero(self.folds == fold)]
        path = self.folder / f"held-{fold}.pt"
        tokeniser = CommentTokeniser(self.tokeniser_json)
        if not path.exists():
            network, _ = self.network(str(fold))
            reader = network_reader(network, self.config.join.open_log_odds)
            _print(f"fold {fold}: reading {len(examples):,} comments")
            inputs = [e.input for e in examples]
            scores = score_network(inputs, reader, tokeniser)
            shorter = read_without_ends(inputs, tokeniser, partial(score_windows, reader))
            _write(path, scores_bytes(replace(scores, without_ends=np.array(shorter))))
        windows = [tokeniser.windows(e.input) for e in examples]
        return read_scores(path.read_bytes(), windows)

    def tables(self, stage: str) -> "Tables":
        """Return the linear members that learn from the same comments as a stage's network."""

        def fit() -> Mapping[str, bytes]:
            train_examples = [self.examples[i] for i in self.training_rows(stage)]
            _print(f"{stage}: the linear members on {len(train_examples):,} comments")
            return Tables.fit(train_examples, self.dataset, self.config.join).files

        return Tables.read(self._keep(f"tables-{stage}", fit))

    def graphs(self) -> Mapping[str, bytes]:
        """Return the files of the last network in int8, by name."""

        def round_last() -> Mapping[str, bytes]:
            config = self.config
            network, _ = self.network(FINAL)
            _print("rounding to int8")
            return export_quantisation_aware(
                network,
                [self.examples[i] for i in self.training_rows(FINAL)],
                CommentTokeniser(self.tokeniser_json),
                config.on_grid,
                windows=config.int8_windows,
                seed=config.seed,
            )

        return self._keep("int8", round_last)

    def _keep(self, name: str, make: Callable[[], Mapping[str, bytes]]) -> Mapping[str, bytes]:
        """Return files by name; the first call makes them and stores them in the run's folder."""
        folder = self.folder / name
        if not folder.exists():
            files = make()
            staged = self.folder / f"writing-{name}"
            staged.mkdir(exist_ok=True)
            for of, content in files.items():
                (staged / of).write_bytes(content)
            staged.rename(folder)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def linear_held_out(self, fold: int) -> LinearScores:
        """Return a fold's linear members' and TF-IDF scores of the comments that it left out."""
        path = self.folder / f"linear-{fold}.pt"
        if not path.exists():
            tables = self.tables(str(fold))
            examples = [self.examples[i] for i in np.flatnonzero(self.folds == fold)]
            train_examples = [self.examples[i] for i in self.training_rows(str(fold))]
            log_odds = [
                [tables.linear.highest_of(count_vectors(e.input)) for e in examples],
                [log_odds_in(tables.names, count_name(e.input)) for e in examples],
                tfidf_log_odds(train_examples, examples),
            ]
            marks = tables.marks
            by_words = [promotion_by_words(marks, e.input) if marks else () for e in examples]
            _write(
                path,
                linear_scores_bytes(LinearScores(log_odds=np.array(log_odds), by_words=by_words)),
            )
        return read_linear_scores(path.read_bytes())

    def out_of_fold(self) -> tuple[Scores, FloatArray]:
        """Return each judged comment's scores by members and by TF-IDF without its source."""
        folds = range(self.config.rotation.n_judged)
        order = np.argsort(
            np.concatenate([np.flatnonzero(self.folds == fold) for fold in folds]), kind="stable"
        )
        scores = take_rows(join_scores([self.held_out(fold) for fold in folds]), order)
        found = [self.linear_held_out(fold) for fold in folds]
        linear, names, tfidf = np.concatenate([of_fold.log_odds for of_fold in found], axis=1)[
            :, order
        ]
        by_words = [words for of_fold in found for words in of_fold.by_words]
        by_words = [by_words[i] for i in order]
        return replace(scores, linear=linear, names=names, by_words=by_words), tfidf


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The linear members, fitted on some comments."""

    linear: LinearTable
    names: LinearTable | None
    marks: LinearTable | None

    @classmethod
    def fit(
        cls, train_examples: Sequence[Example], dataset: Dataset, config: JoinConfig
    ) -> "Tables":
        """Fit the members on these comments, and on the advertisements in unlabelled texts."""
        return cls(
            linear=fit_linear(train_examples, config, dataset.texts),
            names=fit_names(train_examples, config),
            marks=fit_marks(train_examples, config),
        )

    @classmethod
    def read(cls, files: Mapping[str, bytes]) -> "Tables":
        """Return the members that were written as `files`."""
        found = {name: read_table(content) for name, content in files.items()}
        return cls(
            linear=found[LINEAR_FILE], names=found.get(NAMES_FILE), marks=found.get(MARKS_FILE)
        )

    @property
    def files(self) -> dict[str, bytes]:
        """Return the members as files of a version."""
        named = ((LINEAR_FILE, self.linear), (NAMES_FILE, self.names), (MARKS_FILE, self.marks))
        return {name: table_bytes(table) for name, table in named if table is not None}


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    staged = path.with_suffix(".writing")
    staged.write_bytes(content)
    staged.replace(path)


def print_progress(stage: str, progress: Progress) -> None:
    """Print a stage's progress on standard error every 50 steps."""
    if progress.step % 50 == 0 or progress.step == progress.steps:
        _print(
            f"{stage}: step {progress.step} of {progress.steps}, loss {progress.loss:.3f}, "
            f"{progress.seconds_left / 60:.0f} min left"
        )


def _print(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# Fitting and measuring on the folds' scores.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """The fitted joining, and its measurements out of fold."""

    calibration: Calibration
    fusion: Fusion
    parts: tuple[MeasuredPart, ...]


def _fit_on_folds(run: Training) -> _Fitted:
    """Fit calibration, weights and cutoffs on the folds' scores of left out comments."""
    scores, tfidf = run.out_of_fold()
    judged = [run.examples[i] for i in run.judged]
    under_posts = np.array([e.source not in OTHER_PLACES for e in judged], dtype=np.bool_)
    places, elsewhere = np.flatnonzero(under_posts), np.flatnonzero(~under_posts)
    examples, others = [judged[i] for i in places], [judged[i] for i in elsewhere]
    held = take_rows(scores, places)
    real = [not is_authored(e) for e in examples]
    calibration = calibrate(held, examples, run.config.join, is_real=_if_enough(real, examples))
    _print("looking with every detector, fitting weights")
    evidence = Evidence(
        examples=examples,
        model_p_spam=p_spam_of(held, calibration),
        strengths=signal_strengths(examples),
        is_promised=are_promised(examples),
        folds=run.folds[run.judged][places],
    )
    weighed = weigh(evidence, run.config.weigh)
    fusion = weighed.fusion
    _print("measuring")
    measured = measure_part(
        OUT_OF_FOLD,
        examples,
        held,
        evidence.strengths,
        calibration,
        fusion,
        p_spam=weighed.out_of_fold,
    )
    ways = {
        **measured.ways,
        "signals alone": signals_alone(evidence, run.config.weigh),
        "TF-IDF": logistic_of(tfidf[places]),
    }
    parts = [replace(measured, ways=ways)]
    if others:
        strengths, scores = signal_strengths(others), take_rows(scores, elsewhere)
        parts.append(measure_part(OTHER, others, scores, strengths, calibration, fusion))
    return _Fitted(calibration=calibration, fusion=fusion, parts=tuple(parts))


def are_promised(examples: Sequence[Example]) -> BoolArray | None:
    """Return which comments are real ones that the blog's own people labelled.

    Corrected labels do not count: those people had let the spam through, and are the ones who would
    check unsure comments. Returns None if there are too few.
    """
    return _if_enough([not (is_authored(e) or e.is_corrected) for e in examples], examples)


def _if_enough(chosen: Sequence[bool], examples: Sequence[Example]) -> BoolArray | None:
    rows, is_spam = np.array(chosen, dtype=np.bool_), labels(examples)
    return rows if min((rows & is_spam).sum(), (rows & ~is_spam).sum()) >= _MIN_REAL else None


# The version: members that learn from everything, joined as on the folds' scores.


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltVersion:
    """A version's files, weights, and the facts of its card."""

    files: Mapping[str, bytes]
    # In half precision, to continue training. Serving does not read them.
    torch_weights: bytes
    fusion: Fusion
    parts: tuple[MeasuredPart, ...]
    facts: Measured
    # Of all networks, without reading, joining and measuring.
    network_seconds: float


def build_version(run: Training) -> BuiltVersion:
    """Return a version that has learnt everything."""
    config, examples = run.config, run.examples
    tokeniser = CommentTokeniser(run.tokeniser_json)
    fitted = _fit_on_folds(run)
    train_examples = [examples[i] for i in run.training_rows(FINAL)]
    tables = run.tables(FINAL)
    network, seconds = run.network(FINAL)
    graphs = run.graphs()
    engine = engine_of(graphs, fitted.calibration)
    drawn = draw_to_compare(len(train_examples), config.embedding_comments, config.seed)
    projection, embedding = fit_embedding(engine, tokeniser, [train_examples[i] for i in drawn])
    members = _members(run, fitted, tables, engine)
    _print("contrasts")
    contrasts = measure_contrasts(
        draw(fitted.parts[0].examples, config.contrast_comments, config.seed),
        _judge_out_of_fold(run, fitted),
        ham_cutoff=fitted.fusion.ham_cutoff,
    )
    files = {
        **graphs,
        **tables.files,
        TOKENISER_FILE: run.tokeniser_json.encode("utf-8"),
        CALIBRATION_FILE: calibration_bytes(fitted.calibration),
        EMBEDDING_FILE: projection_bytes(projection),
    }
    state = {name: value.half() for name, value in network.state_dict().items()}
    return BuiltVersion(
        files=files,
        torch_weights=safetensors.torch.save(state),
        fusion=fitted.fusion,
        parts=fitted.parts,
        facts={
            "calibration": asdict(fitted.calibration),
            "rounding_to_int8": _measure_rounding(run, members, network),
            "embedding": embedding,
            "rotation": _rotation_facts(run),
            "contrasts": contrasts,
        },
        network_seconds=seconds,
    )


def _members(run: Training, fitted: _Fitted, tables: Tables, engine: Engine) -> Members:
    return Members(
        engine=engine,
        tokeniser=CommentTokeniser(run.tokeniser_json),
        linear=tables.linear,
        calibration=fitted.calibration,
        fusion=fitted.fusion,
        names=tables.names,
    )


def _judge_out_of_fold(run: Training, fitted: _Fitted) -> Judge:
    """Return a judge whose members have learnt nothing of a comment's source."""
    fold_of: dict[CommentId, int] = {}
    members = []
    for fold in range(run.config.rotation.n_judged):
        fold_of |= {run.examples[i].comment.id: fold for i in np.flatnonzero(run.folds == fold)}
        engine = network_reader(run.network(str(fold))[0], run.config.join.open_log_odds)
        members.append(_members(run, fitted, run.tables(str(fold)), engine))

    def judge(comments: Sequence[Comment]) -> FloatArray:
        p_spam = np.zeros(len(comments))
        for fold, of_fold in enumerate(members):
            if rows := [i for i, one in enumerate(comments) if fold_of[one.id] == fold]:
                p_spam[rows] = of_fold.judge([comments[i] for i in rows])
        return p_spam

    return judge


def _measure_rounding(run: Training, members: Members, network: Network) -> Measured:
    """Return the changes from rounding the network to int8."""
    some = draw_to_compare(len(run.examples), run.config.rounding_comments, run.config.seed)
    examples = [run.examples[i] for i in some]
    strengths = signal_strengths(examples)
    before = replace(
        members, engine=network_reader(network, run.config.join.open_log_odds, exact=True)
    )
    return compare_rounding(
        before.p_spam(examples, strengths),
        members.p_spam(examples, strengths),
        labels(examples),
        members.fusion,
    )


def _rotation_facts(run: Training) -> Measured:
    """Return the sources that were left out together, and the comments per network."""
    return {
        "n_folds": run.config.rotation.n_folds,
        "sources": {
            str(fold): sorted({run.examples[i].source for i in np.flatnonzero(run.folds == fold)})
            for fold in range(run.config.rotation.n_judged)
        },
        "learnt_by": {stage: len(run.training_rows(stage)) for stage in run.stages},
    }


# The command.


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
    parser.add_argument("--promote", action="store_true", help="make it the current version")
    parser.add_argument("--force", action="store_true", help="train even if nothing changed")
    options = parser.parse_args(arguments)
    if options.no_own_data and not options.data:
        parser.error("--no-own-data leaves nothing to train on: name files with --data")
    return options


def _train_version(options: argparse.Namespace, config: TrainConfig) -> int:
    if options.name:
        check_free(options.out, options.name)
    data = [*([] if options.no_own_data else [DEFAULT_DATA]), *options.data]
    dataset = read_dataset(data, corrections=LABEL_CORRECTIONS)
    mark = fingerprint(dataset.files, asdict(config))
    same = None if options.force or options.name else find_same(options.out, mark)
    if same is not None:
        if options.promote:
            promote(options.out, same)
        print(f"nothing changed since {same} was trained: kept (--force trains again)")
        return 0
    folder = options.out / f".training-{mark[:16]}"
    run = Training(dataset, config, folder)
    _check_labels(run)
    folder.mkdir(parents=True, exist_ok=True)
    _print(f"{len(dataset.examples):,} comments, {config.rotation.n_folds} folds")
    built = build_version(run)

    now = datetime.now(UTC)
    version = options.name or free_name(options.out, f"e5-{now:%Y%m%d}")
    card = card_facts(
        version=version,
        trained_at=now,
        seconds=built.network_seconds,
        fingerprint=mark,
        config=asdict(config),
        packages=PACKAGES,
        files=dataset.files,
        fusion=built.fusion,
        parts=built.parts,
        **built.facts,
    )
    written = write_version(
        options.out,
        version,
        kind=TransformerClassifier.KIND,
        weights=built.files,
        fusion=built.fusion,
        documents={"card.json": card_json(card), "card.md": card_page(card)},
        unlisted={TORCH_FILE: built.torch_weights},
    )
    shutil.rmtree(folder)
    if options.promote:
        promote(options.out, version)
    state = "promoted" if options.promote else "not promoted"
    print(f"{written}: trained in {built.network_seconds / 60:.1f} min, {state}; see its card.md")
    return 0


def _check_labels(run: Training) -> None:
    """Raise `ValueError` unless each fold has both labels to learn from and to judge."""
    is_spam = labels(run.examples)
    for fold in range(run.config.rotation.n_judged):
        for name, rows in (("left out", run.folds == fold), ("left", run.folds != fold)):
            n_spam = int(is_spam[rows].sum())
            if n_spam in (0, int(rows.sum())):
                msg = (
                    f"fold {fold} needs spam and ham among the comments {name}, got {n_spam} spam "
                    f"among {int(rows.sum())}: name more files with --data"
                )
                raise ValueError(msg)


if __name__ == "__main__":
    sys.exit(main())
