"""A version's members as files, and their scores of comments with all evidence."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from models.engine import Engine
from models.linear import LinearTable, read_table
from models.registry import FUSION_FILE, Fusion
from models.tokens import CommentTokeniser
from models.transformer import (
    CALIBRATION_FILE,
    LINEAR_FILE,
    NAMES_FILE,
    NETWORK_FILE,
    REST_FILE,
    REST_WEIGHTS_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    Calibration,
    read_calibration,
    rest_of,
)
from service.domain.comment import Comment
from service.scoring.classifier import model_input
from training.arrays import FloatArray
from training.data.dataset import Example
from training.fit.evidence import signal_names, strengths_of
from training.fit.scores import (
    Scores,
    WindowReader,
    all_evidence,
    p_spam_of,
    score_inputs,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The parts that judge: network, linear members, calibration, weights of all evidence."""

    engine: WindowReader
    tokeniser: CommentTokeniser
    linear: LinearTable
    calibration: Calibration
    fusion: Fusion
    names: LinearTable | None = None

    def p_spam(self, examples: Sequence[Example], strengths: FloatArray) -> FloatArray:
        """Return each comment's p_spam for an unknown sender.

        `strengths` are `signal_strengths`. Detectors that the version does not know get no weight.
        """
        if not examples:
            return np.zeros(0)
        scores = self.score([e.comment for e in examples])
        return all_evidence(p_spam_of(scores, self.calibration), strengths, self.known_fusion)

    def judge(self, comments: Sequence[Comment]) -> FloatArray:
        """Return each comment's p_spam with all evidence, for an unknown sender."""
        model = p_spam_of(self.score(comments), self.calibration)
        return all_evidence(model, strengths_of(comments), self.known_fusion)

    def score(self, comments: Sequence[Comment]) -> Scores:
        """Return the members' scores of each comment, before calibration."""
        inputs = [model_input(comment) for comment in comments]
        return score_inputs(
            inputs, self.engine, self.tokeniser, self.linear, self.names, self.calibration
        )

    @property
    def known_fusion(self) -> Fusion:
        """Return the weights with 0 for every detector that the version does not know."""
        known = dict.fromkeys(signal_names(), 0.0) | dict(self.fusion.signal_weights)
        return replace(self.fusion, signal_weights=known)


def read_members(files: Mapping[str, bytes], *, threads: int | None = None) -> Members:
    """Return the members in the files of a transformer version; the engine uses `threads`."""
    calibration = read_calibration(files[CALIBRATION_FILE])
    return Members(
        engine=engine_of(files, calibration, threads=threads),
        tokeniser=CommentTokeniser(files[TOKENISER_FILE].decode("utf-8")),
        linear=read_table(files[LINEAR_FILE]),
        calibration=calibration,
        fusion=Fusion(**json.loads(files[FUSION_FILE])),
        names=read_table(files[NAMES_FILE]) if NAMES_FILE in files else None,
    )


def engine_of(
    files: Mapping[str, bytes], calibration: Calibration, *, threads: int | None = None
) -> Engine:
    """Return an engine that runs the network in these files, without leaving files on disk."""
    names = (NETWORK_FILE, WEIGHTS_FILE, REST_FILE, REST_WEIGHTS_FILE)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name in files:
                Path(folder, name).write_bytes(files[name])
        rest = rest_of(Path(folder), calibration) if REST_FILE in files else None
        return Engine(Path(folder, NETWORK_FILE), rest=rest, threads=threads)
