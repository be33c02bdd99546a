"""Reads what a version's members say of comments, by the code that serves, and measures it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from models.engine import WindowScores
from models.features import count_features
from models.inputs import MIN_P_SPAM_TO_MARK, ModelInput, ModelOutput
from models.linear import LinearTable
from models.registry import Fusion
from models.stretches import Stretch
from models.tokens import CommentTokeniser, Window
from models.transformer import Calibration, mark_stretches, pool, strongest_promotion
from service.scoring.conclude import logistic, logit
from service.scoring.model_signals import model_signals
from training.dataset import Example
from training.evidence import signal_names
from training.promotion import MarkedTokens, compare_tokens
from training.version_card import MeasuredPart, Scored

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What the members say of comments, before calibration. One row a comment."""

    network: FloatArray
    linear: FloatArray
    voice: FloatArray
    # Of the words that promote most (`models.transformer.strongest_promotion`).
    strongest: FloatArray
    windows: Sequence[Sequence[Window]]
    promotion: Sequence[Sequence[Sequence[float]]]


class WindowReader(Protocol):
    """Whatever runs a network: `models.engine.Engine`, or one for another kind of machine."""

    def read(self, windows: Sequence[Window]) -> list[WindowScores]:
        """Return each window's scores, in order."""


def read_inputs(
    inputs: Sequence[ModelInput],
    engine: WindowReader,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
) -> Read:
    """Return what both members say, by the very code that serves around the engine."""
    windows = [tokeniser.windows(one) for one in inputs]
    scores = iter(engine.read([w for some in windows for w in some]))
    of_comment = [[next(scores) for _ in some] for some in windows]
    promotion = [[s.promotion for s in some] for some in of_comment]
    return Read(
        network=np.array([pool([s.spam for s in some]) for some in of_comment]),
        linear=np.array([linear.sum_of(count_features(one)) for one in inputs]),
        voice=np.array([pool([s.llm_voice for s in some]) for some in of_comment]),
        strongest=np.array([strongest_promotion(some) for some in promotion]),
        windows=windows,
        promotion=promotion,
    )


def labels(examples: Sequence[Example]) -> BoolArray:
    """Return which comments are spam."""
    return np.array([example.is_spam for example in examples], dtype=np.bool_)


def p_spam_of(read: Read, calibration: Calibration) -> FloatArray:
    """Return what the model alone states, calibrated."""
    return logistic_of(calibration.log_odds(read.network, read.linear, read.strongest))


def voice_strengths(read: Read, calibration: Calibration) -> FloatArray:
    """Return the strength of LLM voice as serving would state it, 0 where it is silent."""
    c = calibration
    if c.voice_slope == 0.0:
        return np.zeros(len(read.voice))
    voices = logistic_of(c.voice_offset + c.voice_slope * read.voice)
    outputs = (ModelOutput(p_spam=0.5, llm_voice=float(v)) for v in voices)
    return np.array([sum(s.strength for s in model_signals(output)) for output in outputs])


def logistic_of(log_odds: FloatArray) -> FloatArray:
    """Return the probability of each log-odds."""
    return np.array([logistic(float(s)) for s in log_odds])


def logit_of(p_spam: FloatArray) -> FloatArray:
    """Return the log-odds of each probability, bounded as serving bounds them."""
    return np.array([logit(float(p)) for p in p_spam])


def marked(
    read: Read, examples: Sequence[Example], p_spam: FloatArray, marks_from: float
) -> MarkedTokens:
    """Return how what serving would mark agrees with what was marked by hand."""
    spans: list[tuple[Stretch, ...]] = [
        mark_stretches(e.comment.text, w, p, marks_from) if s >= MIN_P_SPAM_TO_MARK else ()
        for e, w, p, s in zip(examples, read.windows, read.promotion, p_spam, strict=True)
    ]
    return compare_tokens(examples, spans)


def all_evidence(model_p_spam: FloatArray, strengths: FloatArray, fusion: Fusion) -> FloatArray:
    """Return each comment's p_spam as serving would state it for a sender never seen before.

    `strengths` has a column a detector, as `signal_strengths` returns them.
    """
    row = np.array([fusion.signal_weights[name] for name in signal_names()])
    return logistic_of(fusion.base + fusion.model_weight * logit_of(model_p_spam) + strengths @ row)


def measure_part(
    name: str,
    examples: Sequence[Example],
    read: Read,
    strengths: FloatArray,
    calibration: Calibration,
    fusion: Fusion,
) -> MeasuredPart:
    """Return everything that a card says about one part."""
    model_p_spam = p_spam_of(read, calibration)
    return MeasuredPart(
        name=name,
        examples=tuple(examples),
        scored=Scored(
            network=logistic_of(read.network),
            linear=logistic_of(read.linear),
            model=model_p_spam,
            all_evidence=all_evidence(model_p_spam, strengths, fusion),
        ),
        marked=marked(read, examples, model_p_spam, calibration.marks_from),
    )
