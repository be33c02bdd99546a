"""An embedding has unit length, or there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.embedding import EMBEDDING_SIZE, Projection, projection_bytes, read_projection


@pytest.fixture
def projection() -> Projection:
    rng = np.random.default_rng(3)
    return Projection(
        mean=rng.normal(size=96).astype(np.float32),
        matrix=rng.normal(size=(96, EMBEDDING_SIZE)).astype(np.float32),
    )


@pytest.mark.parametrize("odd", [[], [[math.nan] * 96], [[math.inf] * 96]])
def test_what_has_no_direction_has_no_embedding(projection, odd):
    assert projection.embed(odd) is None


def test_a_projection_that_was_written_reads_the_same(projection):
    content = projection_bytes(projection)

    assert projection_bytes(read_projection(content)) == content


@pytest.mark.parametrize(
    ("mean", "matrix"),
    [
        (np.zeros(5, np.float32), np.zeros((6, EMBEDDING_SIZE), np.float32)),
        (np.zeros(5, np.float32), np.zeros((5, 3), np.float32)),
        (np.full(5, np.nan, np.float32), np.zeros((5, EMBEDDING_SIZE), np.float32)),
    ],
)
def test_a_projection_of_the_wrong_shape_is_refused(mean, matrix):
    with pytest.raises(ValueError, match="finite numbers of shape"):
        Projection(mean=mean, matrix=matrix)
