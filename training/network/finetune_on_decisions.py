"""Fine-tunes the current version's network on decisions, beside comments that keep it as it was."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from models.tokens import CommentTokeniser
from training.data.dataset import Example
from training.data.training_examples import TrainingExample, Variation, training_example_of
from training.network.encoder import Network
from training.network.finetune import FineTuneConfig, Progress, fine_tune
from training.network.from_version import Served
from training.trust.weights import WeighedDecision

# Replayed comments are cut into batches from runs of so many, sorted by length: little padding.
_RUN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsTuneConfig:
    """The knobs of teaching decisions to a network that serves already."""

    # Two thirds of each batch keep the network as it was: 40 decisions are seen often, and what
    # was learnt from thousands is not forgotten.
    batch_size: int = 24
    decided_per_batch: int = 8
    # Every decision is seen about so often, within the bounds of steps. The upper one bounds the
    # minutes: a step takes about 1.3 s of two cores.
    passes: float = 20.0
    min_steps: int = 30
    max_steps: int = 100
    # Replayed comments, drawn by the seed: the steps take no more.
    fine_tune: FineTuneConfig = field(
        default_factory=lambda: FineTuneConfig(
            # Two thirds of what the first training ends its warm-up with: the weights lie on the
            # grid of int8, and less moves too few of them to the next whole number.
            learning_rate=1e-4,
            warm_up=0.1,
            weight_decay=0.0,
            dropout=False,
            as_before_weight=2.0,
            save_every_steps=25,
            save_every_seconds=15.0,
            variation=Variation(swap_hosts=0.5, glue_remark=0.0),
        )
    )


def finetune_on_decisions(
    network: Network,
    served: Served,
    before: Network,
    tokeniser: CommentTokeniser,
    decided: Sequence[WeighedDecision],
    replayed: Sequence[Example],
    config: DecisionsTuneConfig,
    *,
    seed: int,
    checkpoint: Path,
    tell: Callable[[Progress], None],
) -> None:
    """Fine-tune the network in place, on the grid on which it will serve.

    The vocabulary's vectors stay: a few decisions would move those of their own words alone.
    Resumes from the checkpoint; the same seed and training examples give the same network.
    """
    freeze_vocabulary(network)
    served.fake_quantise(network)
    training_examples = [training_example_of(one.example, weight=one.weight) for one in decided]
    batches, drawn = plan_batches(
        len(decided), [len(e.comment.text) for e in replayed], config, seed=seed
    )
    training_examples += [TrainingExample(input=replayed[i].input, as_before=True) for i in drawn]
    fine_tune(
        network,
        tokeniser,
        training_examples,
        config.fine_tune,
        seed=seed,
        checkpoint=checkpoint,
        tell=tell,
        before=before,
        batches=batches,
    )


def count_steps(n_decided: int, config: DecisionsTuneConfig) -> int:
    """Return how many steps so many decisions are taught in."""
    wanted = round(n_decided * config.passes / config.decided_per_batch)
    return max(config.min_steps, min(config.max_steps, wanted))


def plan_batches(
    n_decided: int, replayed_lengths: Sequence[int], config: DecisionsTuneConfig, *, seed: int
) -> tuple[list[list[int]], list[int]]:
    """Return each step's training examples, and which comments are replayed.

    Training examples are numbered decisions first, then the replayed comments in the order
    returned. All of it comes from the seed, nothing from when a run was cut off.
    """
    steps = count_steps(n_decided, config)
    rng = random.Random(f"{seed}-plan")  # noqa: S311  # an order is no secret
    decided: list[int] = []
    while len(decided) < steps * config.decided_per_batch:
        decided += rng.sample(range(n_decided), n_decided)
    per_batch = config.batch_size - config.decided_per_batch
    n_replayed = min(len(replayed_lengths), steps * per_batch)
    drawn = rng.sample(range(len(replayed_lengths)), n_replayed)
    runs = []
    for start in range(0, n_replayed, per_batch * _RUN):
        places = range(start, min(start + per_batch * _RUN, n_replayed))
        runs += sorted(places, key=lambda place: replayed_lengths[drawn[place]])
    groups = [runs[i : i + per_batch] for i in range(0, len(runs), per_batch)] or [[]]
    rng.shuffle(groups)
    batches = []
    for step in range(steps):
        taught = decided[step * config.decided_per_batch : (step + 1) * config.decided_per_batch]
        kept = groups[step % len(groups)]
        batches.append([*taught, *(n_decided + place for place in kept)])
    return batches, drawn


def repeat_for_linear(
    train: Sequence[Example], decided: Sequence[WeighedDecision], *, times: float
) -> list[Example]:
    """Return what the linear member is fitted on: decisions as often as they may teach.

    One that may teach less than half as much as one of the base corpora is left to the network.
    """
    return [*train, *(one.example for one in decided for _ in range(round(one.weight * times)))]


def use_threads(threads: int) -> None:
    """Let torch compute with so many threads, the same way every time."""
    # Without it CUDA's products of matrices refuse to be the same every time (PyTorch's notes).
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=True)


def freeze_vocabulary(network: Network) -> None:
    """Let further training leave the vectors of words as they are."""
    for module in network.modules():
        if isinstance(module, nn.Embedding):
            module.requires_grad_(requires_grad=False)
