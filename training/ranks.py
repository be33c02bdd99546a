"""Lets several processes train one network: `torchrun`'s, each with its share of every batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import distributed, nn

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Which of how many processes this one is; alone without `torchrun`."""

    rank: int = 0
    world: int = 1

    @property
    def is_first(self) -> bool:
        """Say whether this process saves, exports and tells; the others only compute."""
        return self.rank == 0

    def share(self, batch: Sequence[_Item]) -> list[_Item]:
        """Return this process's part of a batch; empty where there are more processes."""
        return list(batch[self.rank :: self.world])

    def add_up(self, network: nn.Module, part: float) -> None:
        """Give every process the batch's gradient: all shares', each by its `part` of the batch.

        Losses are means over a share, so that the sum is the mean over the batch. Only the loss of
        promotion, a mean over tokens, becomes one over shares.
        """
        if self.world == 1:
            return
        for parameter in network.parameters():
            if parameter.requires_grad:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad.mul_(part)
                distributed.all_reduce(parameter.grad)


@contextmanager
def joined() -> Iterator[Ranks]:
    """Join the other processes that `torchrun` started, if it did, until the block ends.

    Over NCCL where each has a GPU, else over Gloo. Raises `ValueError` for an odd environment.
    """
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Ranks()
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield Ranks(rank=distributed.get_rank(), world=world)
        distributed.barrier()
    finally:
        distributed.destroy_process_group()
