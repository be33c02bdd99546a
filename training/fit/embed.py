"""Fits an embedding of comments to a network, whose other answers stay the same bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from models.embedding import EMBEDDING_SIZE, Projection
from models.engine import Engine, WindowScores
from models.tokens import CommentTokeniser
from training.data.dataset import Example
from training.data.partition import Part, Partition
from training.fit.members import engine_of
from training.network.pooling import LAYER, with_pooling

FloatArray = npt.NDArray[np.float64]

# Added to each direction's variance, as a share of the mean variance of those kept: without it
# directions that hardly vary would count as much as the others.
SHRINKAGE = 0.1
# Shares of strangers' pairs at which the share of found pairs of one campaign is told.
_TOLD_AT = (1e-4, 1e-3, 1e-2)
_CHECKED_WINDOWS = 500


def fit_projection(pooled: FloatArray) -> Projection:
    """Return the projection on the directions in which comments differ most, each made as wide.

    `pooled` has a row a comment, more of them than `EMBEDDING_SIZE`. Principal components of the
    covariance, whitened (Jolliffe, "Principal Component Analysis", 2002, 2.3). Campaigns
    are too few to learn a metric from: `models/decisions/` has what was tried.
    """
    mean = pooled.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov((pooled - mean).T))
    widest = variances[-EMBEDDING_SIZE:]
    matrix = directions[:, -EMBEDDING_SIZE:] / np.sqrt(widest + SHRINKAGE * widest.mean())
    return Projection(mean=mean.astype(np.float32), matrix=matrix.astype(np.float32))


def measure_meeting(
    examples: Sequence[Example], embeddings: Sequence[tuple[float, ...] | None]
) -> dict[str, Any]:
    """Return how much closer members of one campaign lie than other comments.

    Each member of a campaign is compared with each spam comment: `found_at` tells which share of
    the pairs of one campaign lies closer than the closest share named of the other pairs.
    """
    known = [(e, v) for e, v in zip(examples, embeddings, strict=True) if v and e.is_spam]
    campaigns = np.array([e.campaign or "" for e, _ in known])
    members = np.flatnonzero(campaigns != "")
    told: dict[str, Any] = {
        "campaigns": len(set(campaigns.tolist()) - {""}),
        "members": len(members),
        "compared_with": len(known),
    }
    vectors = np.array([v for _, v in known]).reshape(len(known), -1)
    same = campaigns[members][:, None] == campaigns[None, :]
    cosines = vectors[members] @ vectors.T
    others, cosines[np.arange(len(members)), members] = cosines[~same], np.nan
    pairs = cosines[same]
    pairs = pairs[~np.isnan(pairs)]
    if len(pairs) == 0 or len(others) == 0:
        return told
    return told | {
        "pairs": len(pairs) // 2,
        "found_at": {
            f"{share:g}": round(float((pairs >= np.quantile(others, 1 - share)).mean()), 4)
            for share in _TOLD_AT
        },
        "nearest_is_of_the_campaign": round(
            float(np.mean(same[np.arange(len(members)), np.nanargmax(cosines, axis=1)])), 4
        ),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The graph with the output that embeddings are made from, the projection, what it is worth."""

    network: bytes
    projection: Projection
    facts: dict[str, Any]


def embed_network(
    network: bytes,
    weights: bytes,
    tokeniser: CommentTokeniser,
    fit_on: Sequence[Example],
    parts: Partition,
    *,
    layer: int = LAYER,
    threads: int | None = None,
    advance: Callable[[float], None] = lambda _: None,
) -> Embedded:
    """Return a network's embedding, fitted on these comments, measured on the parts' spam.

    Ham too is fitted on: by directions of spam alone all ham lies on one side, and looks alike.
    Every answer about spam is checked to stay the same. Raise `ValueError` if one does not, or if
    there are too few comments.
    """
    if len(fit_on) <= EMBEDDING_SIZE:
        msg = f"an embedding needs more than {EMBEDDING_SIZE} comments, got {len(fit_on)}"
        raise ValueError(msg)
    pooling = with_pooling(network, layer=layer)
    engine = engine_of(pooling, weights, threads=threads)
    if pooling != network:
        before = engine_of(network, weights, threads=threads)
        check_same(before, engine, tokeniser, parts.calibration)
    pooled = pooled_of(engine, tokeniser, fit_on)
    projection = fit_projection(np.array([np.mean(p, axis=0) for p in pooled]))
    advance(0.6)
    facts: dict[str, Any] = {
        "fitted_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "fitted_on": len(fit_on),
        "shrinkage": SHRINKAGE,
        "size": EMBEDDING_SIZE,
    }
    for part in Part:
        of_part = fit_on if part is Part.TRAIN else getattr(parts, part.value)
        # Without a campaign in it, a comparison with all other spam tells nothing.
        spam = [e for e in of_part if e.is_spam]
        embeddings = [projection.embed(p) for p in pooled_of(engine, tokeniser, spam)]
        facts[part.value] = measure_meeting(spam, embeddings)
    return Embedded(network=pooling, projection=projection, facts=facts)


def pooled_of(
    engine: Engine, tokeniser: CommentTokeniser, examples: Sequence[Example]
) -> list[list[Sequence[float]]]:
    """Return what the network pools of each comment's windows."""
    windows = [tokeniser.windows(e.input) for e in examples]
    scores = iter(engine.read([w for some in windows for w in some]))
    return [[_told(next(scores)) for _ in some] for some in windows]


def _told(scores: WindowScores) -> Sequence[float]:
    if scores.pooled is None:
        raise ValueError("the network pools nothing")
    return scores.pooled


def check_same(
    before: Engine, after: Engine, tokeniser: CommentTokeniser, examples: Sequence[Example]
) -> None:
    """Raise `ValueError` if the network with one more output says anything else than before."""
    windows = [w for e in examples[:_CHECKED_WINDOWS] for w in tokeniser.windows(e.input)]
    old, new = before.read(windows), after.read(windows)
    changed = sum(
        (a.spam, a.promotion, a.llm_voice) != (b.spam, b.promotion, b.llm_voice)
        for a, b in zip(old, new, strict=True)
    )
    if changed:
        msg = f"the network would answer {changed} of {len(windows)} windows otherwise"
        raise ValueError(msg)
