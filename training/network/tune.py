"""Fine-tunes one network with its exits.

The comments of each epoch, and batches of similar length, are planned in advance.
"""

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
from training.network.finetune import FineTuneConfig, Progress, cut_batches, fine_tune
from training.network.packaged_e5 import read_base


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneConfig:
    """The settings of one network's training."""

    # Arbitrary, but fixed, so that a run can be repeated.
    seed: int = 20_260
    # The layers of the exits: the first decides clear comments, the second all others.
    exits: tuple[int, int] = (4, 12)
    epochs: float = 1.0
    # The last network starts with the mean of networks that have seen nearly everything: it learns
    # on for a while, at a lower rate.
    final_epochs: float = 0.25
    final_rate: float = 8e-5
    # Unlabelled texts with a woven advertisement.
    woven_texts: int = 1_000
    # Words keep their vectors: two thirds of all numbers, few of which occur in most comments.
    fine_tune: FineTuneConfig = field(
        default_factory=lambda: FineTuneConfig(
            label_smoothing=0.01, max_windows=2, save_every_seconds=240.0
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The training examples and their order: positions, one list per step."""

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
    """Return the plan for the comments at the positions `teaching` and for unlabelled texts.

    The same name, comments and settings give the same plan.
    """
    drawn = draw_epochs(examples, teaching, rotation)
    epochs = list(islice(drawn, math.ceil(config.epochs)))
    used = sorted({i for epoch in epochs for i in epoch})
    place = {position: number for number, position in enumerate(used)}
    train_examples = [
        training_example_of(e, weight=weight_of(e)) for e in (examples[i] for i in used)
    ]
    train_examples += _woven_training_examples(texts, config.seed)[: config.woven_texts]
    others = range(len(used), len(train_examples))
    batches: list[list[int]] = []
    for number, epoch in enumerate(epochs):
        rng = random.Random(f"{name}-{number}")  # noqa: S311  # an order is no secret
        order = [*(place[i] for i in epoch), *others]
        rng.shuffle(order)
        cut = cut_batches(train_examples, order, config.fine_tune.batch_size)
        rng.shuffle(cut)
        share = min(1.0, config.epochs - number)
        batches += cut[: max(1, round(share * len(cut)))]
    return Plan(training_examples=train_examples, batches=batches)


def _woven_training_examples(texts: Sequence[UnlabelledText], seed: int) -> list[TrainingExample]:
    """Return training examples of texts with one woven advertisement, cut around it."""
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
    """Return a network on a pretrained encoder; equal settings give equal heads."""
    torch.manual_seed(config.seed)
    return Network(read_base(tokeniser_json), config.exits)


def mean_state(networks: Sequence[Network]) -> dict[str, torch.Tensor]:
    """Return the mean of these networks' parameters."""
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
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> float:
    """Train a network by this plan, in place; return the seconds it took.

    It continues from a checkpoint if there is one.
    """
    network.encoder.get_input_embeddings().requires_grad_(requires_grad=False)
    return fine_tune(
        network,
        CommentTokeniser(tokeniser_json),
        plan.training_examples,
        config.fine_tune,
        seed=seed,
        checkpoint=checkpoint,
        on_progress=on_progress,
        batches=plan.batches,
    )
