"""Trains one version of the baseline, from data files to a folder that can serve.

Reads top to bottom: settings, data, model, weights of the signals, cutoffs, version.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.baseline import BaselineClassifier
from models.features import Features, count_vectors
from models.inputs import MIN_P_SPAM_TO_MARK
from models.linear import LinearTable
from models.promotion import PromotionMarker
from models.registry import SHIPPED_DIR, Fusion, check_free, free_name, promote, write_version
from models.segments import Segment
from service.scoring.conclude import logistic, logit
from training.card.figures import card_facts, card_json
from training.card.fingerprint import find_same, fingerprint
from training.card.page import card_page
from training.command import exit_code_of
from training.data.dataset import DEFAULT_DATA, Dataset, read_dataset
from training.data.split import assign_folds, group_examples
from training.fit.evidence import signal_names, signal_strengths, to_matrix
from training.fit.fuse import (
    FittedWeights,
    choose_fusion,
    fit_fusion,
    fit_platt,
)
from training.fit.measured import ALL_EVIDENCE, MeasuredPart
from training.fit.promotion import (
    CountedText,
    MarkedTokens,
    compare_tokens,
    fit_marker,
)
from training.fit.regression import fit_table

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
FoldArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineConfig:
    """Every knob, with its reason. Figures: authored data, 5 folds by post, 2,640 comments."""

    # Any number does; it only has to stay the same for a run to be repeated.
    seed: int = 20_260
    # With 5, each model learns from 80 % and a run takes seconds.
    n_folds: int = 5
    # Inverse of the ridge. 4 / 10 / 30: AUC 0.932 / 0.934 / 0.935, recall at 1 % false positives
    # 0.51 / 0.52 / 0.53; beyond 10 the gain is noise and rare n-grams weigh ever more.
    inverse_ridge: float = 10.0
    # An n-gram seen in one comment alone teaches that comment only: dropping them shrinks the
    # version five-fold at equal AUC.
    min_comments: int = 2
    # The marker of promotion. Of log-odds thresholds -1 / -0.5 / 0, the lowest marks best:
    # token F1 0.75 / 0.72 / 0.68. Marking all of every spam comment reaches 0.55.
    marker_inverse_ridge: float = 4.0
    marker_threshold: float = -1.0
    # Ridge on the signals' weights. 0.5 / 2 / 5 / 10: AUC 0.937 / 0.936 / 0.935 / 0.933; 2 keeps
    # what fired often and draws what fired ten times halfway to 0.
    signal_penalty: float = 2.0
    # Fewer firings say too little about a signal to let it weigh anything; 3 / 8 / 15 were alike.
    min_firings: int = 5
    # The promises: what may go wrong in the confident verdicts, the rest is unsure.
    max_false_positive_rate: float = 0.001
    max_missed_spam_rate: float = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a run made, with what it is judged by: each answer from a model that never saw it."""

    classifier: BaselineClassifier
    fusion: Fusion
    model_p_spam: FloatArray
    p_spam: FloatArray
    marked: MarkedTokens


def train(dataset: Dataset, config: BaselineConfig) -> Trained:
    """Return a trained version; the same data and config give the same bits on one machine.

    Raise `ValueError` if the data hold one label alone, or too few groups to split.
    """
    examples = dataset.examples
    is_spam = np.array([example.is_spam for example in examples])
    if is_spam.all() or not is_spam.any():
        msg = f"training needs spam and ham, got {is_spam.sum()} spam among {len(is_spam)} comments"
        raise ValueError(msg)
    folds = assign_folds(group_examples(examples), n_folds=config.n_folds, seed=config.seed)

    # The model: scores for judging it come from five models, what serves is one more on all data.
    vectors = [count_vectors(example.input) for example in examples]
    sums = _sums_out_of_fold(vectors, is_spam, folds, config)
    slope, offset = fit_platt(sums, is_spam)
    model_p_spam = np.array([logistic(slope * s + offset) for s in sums])
    texts = [CountedText.of(example) for example in examples]
    marked = _marked_out_of_fold(texts, model_p_spam, folds, config)
    classifier = BaselineClassifier(
        _fit_model([learnt for learnt, *_ in vectors], is_spam, config),
        slope=slope,
        offset=offset,
        marker=_fit_marker(texts, config),
    )

    # The weights: fitted on out-of-fold scores, judged on folds that they were not fitted on.
    log_odds = np.array([logit(p) for p in model_p_spam])
    strengths = signal_strengths(examples)
    p_spam = np.zeros(len(examples))
    for fold in range(config.n_folds):
        held, rest = folds == fold, folds != fold
        part = _fit_weights(log_odds[rest], strengths[rest], is_spam[rest], config)
        p_spam[held] = [logistic(s) for s in part.scores(log_odds[held], strengths[held])]
    weights = _fit_weights(log_odds, strengths, is_spam, config)

    return Trained(
        classifier=classifier,
        fusion=choose_fusion(
            weights,
            p_spam,
            is_spam,
            max_false_positive_rate=config.max_false_positive_rate,
            max_missed_spam_rate=config.max_missed_spam_rate,
        ),
        model_p_spam=model_p_spam,
        p_spam=p_spam,
        marked=compare_tokens(examples, marked),
    )


def _sums_out_of_fold(
    vectors: Sequence[Sequence[Features]],
    is_spam: BoolArray,
    folds: FoldArray,
    config: BaselineConfig,
) -> FloatArray:
    """Return a sum for each comment from the model that did not see its fold."""
    sums = np.zeros(len(vectors))
    for fold in range(config.n_folds):
        rest = np.flatnonzero(folds != fold)
        table = _fit_model([vectors[i][0] for i in rest.tolist()], is_spam[rest], config)
        for i in np.flatnonzero(folds == fold).tolist():
            sums[i] = table.highest_of(vectors[i])
    return sums


def _fit_model(
    vectors: Sequence[Features], is_spam: BoolArray, config: BaselineConfig
) -> LinearTable:
    return fit_table(
        to_matrix(vectors),
        is_spam,
        inverse_ridge=config.inverse_ridge,
        min_rows=config.min_comments,
        seed=config.seed,
    )


def _marked_out_of_fold(
    texts: Sequence[CountedText], model_p_spam: FloatArray, folds: FoldArray, config: BaselineConfig
) -> list[tuple[Segment, ...]]:
    """Return what serving would mark in each comment, by a marker that did not see its fold."""
    marked: list[tuple[Segment, ...]] = [()] * len(texts)
    for fold in range(config.n_folds):
        marker = _fit_marker([t for t, f in zip(texts, folds, strict=True) if f != fold], config)
        for i in np.flatnonzero((folds == fold) & (model_p_spam >= MIN_P_SPAM_TO_MARK)).tolist():
            marked[i] = marker.choose(texts[i].segments, texts[i].vectors)
    return marked


def _fit_marker(texts: Sequence[CountedText], config: BaselineConfig) -> PromotionMarker:
    return fit_marker(
        texts,
        inverse_ridge=config.marker_inverse_ridge,
        min_segments=config.min_comments,
        threshold=config.marker_threshold,
        seed=config.seed,
    )


def _fit_weights(
    log_odds: FloatArray, strengths: FloatArray, is_spam: BoolArray, config: BaselineConfig
) -> FittedWeights:
    return fit_fusion(
        log_odds,
        strengths,
        is_spam,
        names=signal_names(),
        penalty=config.signal_penalty,
        min_firings=config.min_firings,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    return exit_code_of(lambda: _train_version(options))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.baseline", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        default=[DEFAULT_DATA],
        help="data files (.jsonl, .jsonl.gz) or folders of them; the repository's data/ by default",
    )
    help_out = "folder of versions (default: %(default)s)"
    parser.add_argument("--out", type=Path, default=SHIPPED_DIR, help=help_out)
    parser.add_argument("--name", help="the version's name; baseline-DATE by default")
    parser.add_argument("--promote", action="store_true", help="make it the current version")
    parser.add_argument("--force", action="store_true", help="train even if nothing changed")
    return parser.parse_args(arguments)


def _train_version(options: argparse.Namespace) -> int:
    started = time.monotonic()
    config = BaselineConfig()
    if options.name:
        check_free(options.out, options.name)
    dataset = read_dataset(options.data)
    mark = fingerprint(dataset.files, asdict(config))
    same = None if options.force or options.name else find_same(options.out, mark)
    if same is not None:
        if options.promote:
            promote(options.out, same)
        print(f"nothing changed since {same} was trained: kept (--force trains again)")
        return 0
    trained = train(dataset, config)
    now = datetime.now(UTC)
    version = options.name or free_name(options.out, f"baseline-{now:%Y%m%d}")
    measured = MeasuredPart(
        name="out of fold",
        examples=dataset.examples,
        ways={ALL_EVIDENCE: trained.p_spam, "model alone": trained.model_p_spam},
        marked=trained.marked,
    )
    card = card_facts(
        version=version,
        trained_at=now,
        seconds=time.monotonic() - started,
        fingerprint=mark,
        config=asdict(config),
        packages=("numpy", "scikit-learn", "scipy"),
        files=dataset.files,
        fusion=trained.fusion,
        parts=[measured],
    )
    folder = write_version(
        options.out,
        version,
        kind=BaselineClassifier.KIND,
        weights={BaselineClassifier.WEIGHTS_FILE: trained.classifier.to_bytes()},
        fusion=trained.fusion,
        documents={"card.json": card_json(card), "card.md": card_page(card)},
    )
    if options.promote:
        promote(options.out, version)
    state = "promoted" if options.promote else "not promoted"
    print(f"{folder}: trained in {time.monotonic() - started:.0f} s, {state}; see its card.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
