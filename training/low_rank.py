"""Low-rank adaptation of a network (LoRA, Hu et al. 2022), to compare with fine-tuning all of it.

As the adapted matrix is what each forward pass computes with, a network with it exports, rounds and
saves like any other; a package for adapters would do more, but nothing here needs it.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn.utils import parametrize

from training.network import Network


class LowRank(nn.Module):
    """Adds a product of two thin matrices to a matrix that stays as it is."""

    def __init__(self, rows: int, columns: int, *, rank: int, scale: float) -> None:
        super().__init__()
        # One of them is 0 at first, so that nothing changes before the first step.
        self.up = nn.Parameter(torch.zeros(rows, rank))
        self.down = nn.Parameter(torch.randn(rank, columns) / math.sqrt(columns))
        self.scale = scale

    def forward(self, matrix: torch.Tensor) -> torch.Tensor:
        """Return the adapted matrix."""
        return matrix + self.scale * (self.up @ self.down)


def adapt(network: Network, *, rank: int, scale: float = 2.0) -> None:
    """Let only thin matrices beside the encoder's, and the heads, learn from now on.

    Every matrix of the encoder's layers gets its own two; embeddings, biases and norms stay as
    they are. Seed torch first.
    """
    encoder = network.encoder
    encoder.requires_grad_(requires_grad=False)
    # Listed first, as what is added would be walked through, too.
    for module in [one for one in encoder.modules() if isinstance(one, nn.Linear)]:
        rows, columns = module.weight.shape
        added = LowRank(rows, columns, rank=rank, scale=scale)
        parametrize.register_parametrization(module, "weight", added)


def merge(network: Network) -> None:
    """Write what was learnt into the matrices themselves; nothing is left of the adaptation."""
    for module in [one for one in network.modules() if isinstance(one, nn.Linear)]:
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)
