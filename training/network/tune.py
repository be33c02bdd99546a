"""Fine-tunes one network with its exits.

What it learns from is planned before: which comments in which epoch, and batches of like length.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import torch

from models.inputs import ModelInput
from models.tokens import CommentTokeniser
from training.data.dataset import Example, UnlabelledText
from training.data.rotation import RotationConfig, draw_epochs, weight_of
from training.data.training_examples import (
    TrainingExample,
    cut_woven,
    training_example_of,
)
from training.network.encoder import Network
from training.network.finetune import FineTuneConfig, Progress, fine_tune
from training.network.packaged_e5 import read_base

# Batches are cut from runs of so many, sorted by length.
_RUN_OF_BATCHES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneConfig:
    """Every knob of one network's training, with its reason."""

    # Any number does; it only has to stay the same for a run to be repeated.
    seed: int = 20_260
    # After how many layers it answers: first what is plain, then everything else.
    exits: tuple[int, int] = (4, 12)
    epochs: float = 1.0
    # The last network begins with the mean of networks that have learnt from nearly everything.
    final_epochs: float = 0.35
    # Texts without a label into which an advertisement was woven.
    woven_texts: int = 1_000
    # Words keep their vectors: two thirds of all numbers, of which most comments touch few.
    fine_tune: FineTuneConfig = field(
        default_factory=lambda: FineTuneConfig(
            label_smoothing=0.01, max_windows=2, save_every_seconds=240.0
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is learnt from, and in which order: positions of training examples, a list a step."""

    training_examples: Sequence[TrainingExample]
    batches: Sequence[Sequence[int]]


def plan_training_examples(
    examples: Sequence[Example],
    teaching: Sequence[int],
    texts: Sequence[UnlabelledText],
    config: TuneConfig,
    rotation: RotationConfig,
    *,
    name: str,
) -> Plan:
    """Return the plan for the comments at the positions `teaching`, and for texts without a label.

    The same name, comments and settings give the same plan.
    """
    drawn = draw_epochs(examples, teaching, rotation)
    epochs = list(islice(drawn, math.ceil(config.epochs)))
    used = sorted({i for epoch in epochs for i in epoch})
    place = {position: number for number, position in enumerate(used)}
    training_examples = [
        training_example_of(e, weight=weight_of(e)) for e in (examples[i] for i in used)
    ]
    more = _woven_training_examples(texts, config.seed)[: config.woven_texts]
    others = range(len(training_examples), len(training_examples) + len(more))
    batches: list[list[int]] = []
    for number, epoch in enumerate(epochs):
        rng = random.Random(f"{name}-{number}")  # noqa: S311  # an order is no secret
        order = [*(place[i] for i in epoch), *others]
        rng.shuffle(order)
        cut = _cut([*training_examples, *more], order, config.fine_tune.batch_size)
        rng.shuffle(cut)
        share = min(1.0, config.epochs - number)
        batches += cut[: max(1, round(share * len(cut)))]
    return Plan(training_examples=[*training_examples, *more], batches=batches)


def _cut(
    training_examples: Sequence[TrainingExample], order: Sequence[int], size: int
) -> list[list[int]]:
    """Return batches of training examples of like length."""
    run = size * _RUN_OF_BATCHES
    batches = []
    for start in range(0, len(order), run):
        some = sorted(
            order[start : start + run], key=lambda i: len(training_examples[i].input.text)
        )
        batches += [some[i : i + size] for i in range(0, len(some), size)]
    return batches


def _woven_training_examples(texts: Sequence[UnlabelledText], seed: int) -> list[TrainingExample]:
    """Return what texts teach into which one advertisement was woven, cut around it."""
    found = [
        TrainingExample(
            input=ModelInput(text=text),
            promotion=(woven,),
            plain=((0, woven[0]), (woven[1], len(text))),
        )
        for text, woven in cut_woven(texts)
    ]
    random.Random(seed).shuffle(found)  # noqa: S311  # an order is no secret
    return found


def new_network(tokeniser_json: str, config: TuneConfig) -> Network:
    """Return a network on a pretrained encoder; the same settings give the same heads."""
    torch.manual_seed(config.seed)
    return Network(read_base(tokeniser_json), config.exits)


def mean_state(networks: Sequence[Network]) -> dict[str, torch.Tensor]:
    """Return the mean of each of these networks' numbers."""
    states = [network.state_dict() for network in networks]
    return {
        name: torch.stack([state[name] for state in states]).to(torch.float32).mean(0).to(of.dtype)
        for name, of in states[0].items()
    }


def tune(
    network: Network,
    plan: Plan,
    tokeniser_json: str,
    config: TuneConfig,
    *,
    seed: int,
    checkpoint: Path | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
) -> float:
    """Teach a network by this plan, in place; return the seconds that took.

    It goes on from a checkpoint where there is one.
    """
    network.encoder.get_input_embeddings().requires_grad_(requires_grad=False)
    return fine_tune(
        network,
        CommentTokeniser(tokeniser_json),
        plan.training_examples,
        config.fine_tune,
        seed=seed,
        checkpoint=checkpoint,
        tell=tell,
        batches=plan.batches,
    )
