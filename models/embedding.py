"""Turns the network's pooled states of a comment into its embedding, a unit vector."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]

EMBEDDING_SIZE = 64
# A shorter vector is a rounding error and has no direction.
_LEAST_NORM = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """`embedding = unit((pooled - mean) @ matrix)`; shapes (n,) and (n, `EMBEDDING_SIZE`)."""

    mean: Float32Array
    matrix: Float32Array

    def __post_init__(self) -> None:
        fits = self.mean.ndim == 1 and self.matrix.shape == (len(self.mean), EMBEDDING_SIZE)
        if not fits or not (np.isfinite(self.mean).all() and np.isfinite(self.matrix).all()):
            msg = (
                f"a projection needs finite numbers of shape (n,) and (n, {EMBEDDING_SIZE}), "
                f"got {self.mean.shape} and {self.matrix.shape}"
            )
            raise ValueError(msg)

    def embed(self, pooled: Sequence[Sequence[float]]) -> tuple[float, ...] | None:
        """Return a comment's embedding from its windows' pooled states; windows count alike.

        None without windows, for numbers that are not finite, or for a vector without a direction.
        """
        if not pooled:
            return None
        centred = np.mean(np.array(pooled, dtype=np.float64), axis=0) - self.mean
        # Summed column by column in a fixed order: a BLAS product may differ between CPUs.
        projected = np.einsum("i,ij->j", centred, self.matrix.astype(np.float64))
        norm = float(np.sqrt(np.sum(projected * projected)))
        if not np.isfinite(norm) or norm < _LEAST_NORM:
            return None
        return tuple((projected / norm).tolist())


def projection_bytes(projection: Projection) -> bytes:
    """Return the projection as bytes; equal projections give equal bytes."""
    out = io.BytesIO()
    np.savez(out, mean=projection.mean, matrix=projection.matrix)
    return out.getvalue()


def read_projection(content: bytes) -> Projection:
    """Return the projection that these bytes hold. Raise `ValueError` if they hold none."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            mean, matrix = arrays["mean"], arrays["matrix"]
    except (OSError, KeyError, ValueError, BadZipFile, EOFError) as error:
        msg = "the embedding's file cannot be read"
        raise ValueError(msg) from error
    if mean.dtype != np.float32 or matrix.dtype != np.float32:
        msg = f"an embedding's file holds float32, got {mean.dtype} and {matrix.dtype}"
        raise ValueError(msg)
    return Projection(mean=mean, matrix=matrix)
