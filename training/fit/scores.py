"""Reads comments with a version's members, by the serving code, and measures the scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from models.author import count_name
from models.engine import WindowScores
from models.features import count_vectors
from models.inputs import MIN_P_SPAM_TO_MARK, ModelInput, ModelOutput
from models.linear import LinearTable
from models.registry import Fusion
from models.segments import Segment
from models.tokens import CommentTokeniser, Window
from models.transformer import (
    Calibration,
    log_odds_in,
    mark_segments,
    pool,
    read_without_ends,
    strongest_promotion,
)
from service.scoring.conclude import logistic, logit
from training.arrays import BoolArray, FloatArray
from training.data.dataset import Example
from training.fit.boundaries import compare_boundaries
from training.fit.evidence import signal_names
from training.fit.measured import ALL_EVIDENCE, MeasuredPart
from training.fit.promotion import compare_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The members' scores of comments, before calibration. One row per comment."""

    network: FloatArray
    linear: FloatArray
    # Of the author's name, 0 without one.
    names: FloatArray
    # Of the most promotional words (`models.transformer.strongest_promotion`).
    strongest: FloatArray
    windows: Sequence[Sequence[Window]]
    promotion: Sequence[Sequence[Sequence[float]]]
    # The network's highest of the texts without an end (`models.ends`), -inf if there is none.
    without_ends: FloatArray
    # Of promotion for each segment, by its words (`models.promotion.promotion_by_words`); empty
    # without a table.
    by_words: Sequence[Sequence[float]]


class WindowReader(Protocol):
    """Runs a network: `models.engine.Engine`, or one for another kind of machine."""

    def read(self, windows: Sequence[Window]) -> list[WindowScores]:
        """Return each window's scores, in order."""


def score_inputs(
    inputs: Sequence[ModelInput],
    engine: WindowReader,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
    names: LinearTable | None,
    calibration: Calibration,
) -> Scores:
    """Return the members' scores without marks, computed by the serving code."""
    scores = replace(
        score_network(inputs, engine, tokeniser),
        linear=np.array([linear.highest_of(count_vectors(one)) for one in inputs]),
        names=np.array([log_odds_in(names, count_name(one)) for one in inputs]),
    )
    again = np.flatnonzero(_are_reread(scores, calibration)).tolist()
    unclear = [inputs[i] for i in again]
    scores.without_ends[again] = read_without_ends(
        unclear, tokeniser, partial(score_windows, engine)
    )
    return scores


def score_network(
    inputs: Sequence[ModelInput], engine: WindowReader, tokeniser: CommentTokeniser
) -> Scores:
    """Return a network's scores; those of the linear members are 0, without ends -inf."""
    windows = [tokeniser.windows(one) for one in inputs]
    of_comment = score_windows(engine, windows)
    promotion = [[s.promotion for s in some] for some in of_comment]
    return Scores(
        network=np.array([pool([s.spam for s in some]) for some in of_comment]),
        linear=np.zeros(len(windows)),
        names=np.zeros(len(windows)),
        strongest=np.array([strongest_promotion(some) for some in promotion]),
        windows=windows,
        promotion=promotion,
        without_ends=np.full(len(windows), -np.inf),
        by_words=[()] * len(windows),
    )


def score_windows(
    engine: WindowReader, windows: Sequence[Sequence[Window]]
) -> list[list[WindowScores]]:
    """Return a network's scores of each comment's windows."""
    scores = iter(engine.read([w for some in windows for w in some]))
    return [[next(scores) for _ in some] for some in windows]


def log_odds_of(scores: Scores, calibration: Calibration) -> FloatArray:
    """Return each comment's log-odds, as in serving."""
    others = (scores.linear, scores.strongest, scores.names)
    again = _are_reread(scores, calibration)
    highest = np.maximum(scores.network, np.where(again, scores.without_ends, -np.inf))
    return calibration.log_odds(highest, *others)


def _are_reread(scores: Scores, calibration: Calibration) -> BoolArray:
    log_odds = calibration.log_odds(scores.network, scores.linear, scores.strongest, scores.names)
    rows = zip(log_odds.tolist(), scores.strongest.tolist(), strict=True)
    return np.array([calibration.is_reread(*row) for row in rows], dtype=np.bool_)


def labels(examples: Sequence[Example]) -> BoolArray:
    """Return an array that is True for spam."""
    return np.array([example.is_spam for example in examples], dtype=np.bool_)


def p_spam_of(scores: Scores, calibration: Calibration) -> FloatArray:
    """Return the model's calibrated p_spam."""
    return logistic_of(log_odds_of(scores, calibration))


def logistic_of(log_odds: FloatArray) -> FloatArray:
    return np.array([logistic(float(s)) for s in log_odds])


def logit_of(p_spam: FloatArray) -> FloatArray:
    """Return the log-odds of each probability, bounded as in serving."""
    return np.array([logit(float(p)) for p in p_spam])


def mark(
    scores: Scores,
    examples: Sequence[Example],
    shows: BoolArray,
    calibration: Calibration,
) -> list[tuple[Segment, ...]]:
    """Return the marks of each comment as in serving; `shows` selects comments with marks."""
    return [
        mark_segments(e.comment.text, w, p, calibration, words) if show else ()
        for e, w, p, words, show in zip(
            examples, scores.windows, scores.promotion, scores.by_words, shows, strict=True
        )
    ]


def all_evidence(model_p_spam: FloatArray, strengths: FloatArray, fusion: Fusion) -> FloatArray:
    """Return each comment's p_spam as in serving, for an unknown sender.

    `strengths` has a column per detector, as from `signal_strengths`. Detectors that the version
    does not know get no weight.
    """
    row = np.array([fusion.signal_weights.get(name, 0.0) for name in signal_names()])
    return logistic_of(fusion.base + fusion.model_weight * logit_of(model_p_spam) + strengths @ row)


def measure_part(
    name: str,
    examples: Sequence[Example],
    scores: Scores,
    strengths: FloatArray,
    calibration: Calibration,
    fusion: Fusion,
    *,
    p_spam: FloatArray | None = None,
) -> MeasuredPart:
    """Return all measurements of one part for the card.

    `p_spam` is that of all evidence if it was computed with other weights.
    """
    model_p_spam = p_spam_of(scores, calibration)
    if p_spam is None:
        p_spam = all_evidence(model_p_spam, strengths, fusion)
    marks = mark(scores, examples, model_p_spam >= MIN_P_SPAM_TO_MARK, calibration)
    shown = [m if p >= fusion.ham_cutoff else () for m, p in zip(marks, p_spam, strict=True)]
    outputs = [
        ModelOutput(p_spam=float(p), promo_spans=m)
        for m, p in zip(marks, model_p_spam, strict=True)
    ]
    return MeasuredPart(
        name=name,
        examples=tuple(examples),
        ways={
            ALL_EVIDENCE: p_spam,
            "model alone": model_p_spam,
            "network alone": logistic_of(scores.network),
            "linear member alone": logistic_of(scores.linear),
        },
        marked=compare_tokens(examples, shown),
        boundaries=compare_boundaries(examples, outputs),
    )
