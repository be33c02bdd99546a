"""Fits an embedding of comments to the network's pooled states."""

from collections.abc import Sequence

import numpy as np

from models.embedding import EMBEDDING_SIZE, Projection
from models.tokens import CommentTokeniser
from training.arrays import FloatArray
from training.data.dataset import Example
from training.fit.measured import Measured
from training.fit.scores import WindowReader, score_windows

# Added to each direction's variance, as a share of the mean variance of those kept. Without it,
# directions that hardly vary would count as much as the others.
SHRINKAGE = 0.1
# The shares of strangers' pairs at which the share of a campaign's found pairs is reported.
_REPORTED_AT = (1e-4, 1e-3, 1e-2)


def fit_embedding(
    engine: WindowReader, tokeniser: CommentTokeniser, fit_on: Sequence[Example]
) -> tuple[Projection, Measured]:
    """Return an embedding fitted on these comments, and its measured campaigns.

    It is fitted on ham too: directions of spam alone would make all ham look alike. Raises
    `ValueError` if there are too few comments.
    """
    if len(fit_on) <= EMBEDDING_SIZE:
        msg = f"an embedding needs more than {EMBEDDING_SIZE} comments, got {len(fit_on)}"
        raise ValueError(msg)
    pooled = pooled_of(engine, tokeniser, fit_on)
    projection = fit_projection(np.array([np.mean(p, axis=0) for p in pooled]))
    embeddings = [projection.embed(p) for p in pooled]
    return projection, {
        "fitted_on": len(fit_on),
        "shrinkage": SHRINKAGE,
        "size": EMBEDDING_SIZE,
        **measure_meeting(fit_on, embeddings),
    }


def fit_projection(pooled: FloatArray) -> Projection:
    """Return the projection on the directions in which comments differ most, scaled equally.

    `pooled` has a row per comment, more than `EMBEDDING_SIZE`. The directions are the covariance's
    principal components, whitened (Jolliffe, "Principal Component Analysis", 2002, 2.3). There are
    too few campaigns to learn a metric.
    """
    mean = pooled.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov((pooled - mean).T))
    widest = variances[-EMBEDDING_SIZE:]
    matrix = directions[:, -EMBEDDING_SIZE:] / np.sqrt(widest + SHRINKAGE * widest.mean())
    return Projection(mean=mean.astype(np.float32), matrix=matrix.astype(np.float32))


def measure_meeting(
    examples: Sequence[Example], embeddings: Sequence[tuple[float, ...] | None]
) -> Measured:
    """Return how much closer members of one campaign are than other comments.

    Each member of a campaign is compared with each spam comment. `found_at` is the share of a
    campaign's pairs that are closer than the given share of the other pairs.
    """
    known = [(e, v) for e, v in zip(examples, embeddings, strict=True) if v and e.is_spam]
    campaigns = np.array([e.campaign or "" for e, _ in known])
    members = np.flatnonzero(campaigns != "")
    counts: Measured = {
        "campaigns": len(set(campaigns.tolist()) - {""}),
        "members": len(members),
        "compared_with": len(known),
    }
    vectors = np.array([v for _, v in known]).reshape(len(known), -1)
    same = campaigns[members][:, None] == campaigns[None, :]
    cosines = vectors[members] @ vectors.T
    others = cosines[~same]
    same[np.arange(len(members)), members] = False
    pairs = cosines[same]
    if len(pairs) == 0 or len(others) == 0:
        return counts
    return counts | {
        "pairs": len(pairs) // 2,
        "found_at": {
            f"{share:g}": round(float((pairs >= np.quantile(others, 1 - share)).mean()), 4)
            for share in _REPORTED_AT
        },
    }


def pooled_of(
    engine: WindowReader, tokeniser: CommentTokeniser, examples: Sequence[Example]
) -> list[list[Sequence[float]]]:
    """Return the pooled states of each comment's windows. Raises `ValueError` if there are none."""
    windows = [tokeniser.windows(e.input) for e in examples]
    scores = score_windows(engine, windows)
    pooled = [[one.pooled for one in some if one.pooled is not None] for some in scores]
    if not all(pooled):
        raise ValueError("the network pools nothing")
    return pooled
