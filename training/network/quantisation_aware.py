"""Rounds a network to int8 and trains it to reproduce its outputs from before."""

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from models.tokens import CommentTokeniser, Window
from training.data.dataset import Example
from training.data.training_examples import TrainingExample
from training.network.encoder import Network
from training.network.export import export_network
from training.network.finetune import FineTuneConfig, fine_tune, window_tensors

# The range of integer weights on either side of 0 (symmetric), and of inputs from 0 up.
_MOST_WEIGHT, _MOST_INPUT = 127, 255
_LEAST = 1e-6


def export_quantisation_aware(
    network: Network,
    train: Sequence[Example],
    tokeniser: CommentTokeniser,
    config: FineTuneConfig,
    *,
    windows: int,
    seed: int,
) -> dict[str, bytes]:
    """Return the files of a network in int8, by name (`training.network.export`).

    Windows of the comments fix the ranges of inputs: with ranges of each input a comment's score
    would depend on its batch. The encoder's matrices are then trained on the int8 grid to reproduce
    the network before rounding (quantisation-aware training, Jacob et al. 2018, with distillation),
    because rounding alone changes one verdict in a hundred. The vocabulary's vectors are only
    rounded.
    """
    drawn = np.random.default_rng(seed).permutation(len(train))[:windows].tolist()
    rounded = round_network(network, [tokeniser.windows(train[i].input)[0] for i in drawn])
    examples = [TrainingExample(input=e.input) for e in train]
    fine_tune(rounded, tokeniser, examples, config, seed=seed, teacher=network)
    with tempfile.TemporaryDirectory() as folder:
        export_network(rounded, Path(folder), short=True)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def round_network(network: Network, windows: Sequence[Window]) -> Network:
    """Return a copy that computes the encoder's matrices as int8 will; heads stay unchanged.

    Rounding the spam head moves the log-odds by 0.38, all other rounding together by 0.03: its
    input has one number far larger than the others, and nothing after it averages the error.
    """
    rounded = copy.deepcopy(network)
    ranges = _find_ranges(rounded, windows)
    for name, module in list(rounded.encoder.named_modules()):
        if isinstance(module, nn.Linear):
            rounded.encoder.set_submodule(name, _RoundedLinear(module, *ranges[name]))
        elif isinstance(module, nn.Embedding):
            rounded.encoder.set_submodule(name, _RoundedEmbedding(module))
    return rounded


def _find_ranges(
    network: Network, windows: Sequence[Window]
) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Return the minimum and maximum of each input of the encoder's matrices, by name."""
    found: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def observe(name: str, inputs: tuple[torch.Tensor, ...]) -> None:
        values = inputs[0].reshape(-1, inputs[0].shape[-1])
        low, high = values.amin(0), values.amax(0)
        if name in found:
            low, high = torch.minimum(low, found[name][0]), torch.maximum(high, found[name][1])
        found[name] = (low, high)

    hooks = [
        module.register_forward_pre_hook(lambda _, inputs, name=name: observe(name, inputs))
        for name, module in network.encoder.named_modules()
        if isinstance(module, nn.Linear)
    ]
    network.eval()
    with torch.no_grad():
        for window in windows:
            network(*window_tensors([window]))
    for hook in hooks:
        hook.remove()
    return found


class _OnGrid(nn.Module):
    """A matrix that is rounded to int8 integers, with a scale per row."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach())
        self.steps: torch.Tensor
        self.zeros: torch.Tensor
        steps = weight.detach().abs().amax(1).clamp(min=_LEAST) / _MOST_WEIGHT
        self.register_buffer("steps", steps)
        self.register_buffer("zeros", torch.zeros(len(steps), dtype=torch.int32))

    def rounded(self) -> torch.Tensor:
        """Return the matrix as int8 stores it."""
        return torch.fake_quantize_per_channel_affine(
            self.weight, self.steps, self.zeros, 0, -_MOST_WEIGHT, _MOST_WEIGHT
        )


class _RoundedLinear(_OnGrid):
    """An int8 product whose inputs are rounded within one fixed range.

    Inputs that are far larger than others would use up the range, so each is divided by a number
    and its column multiplied by it (SmoothQuant, Xiao et al. 2023). Gradients ignore the rounding
    (straight-through estimator, Bengio et al. 2013): small steps add up until they move a weight to
    the next integer.
    """

    def __init__(self, linear: nn.Linear, low: torch.Tensor, high: torch.Tensor) -> None:
        largest = torch.maximum(low.abs(), high.abs()).clamp(min=_LEAST)
        smooth = (largest / largest.mean()).sqrt()
        super().__init__(linear.weight * smooth)
        least, most = float((low / smooth).min()), float((high / smooth).max())
        self.step = max(most - least, _LEAST) / _MOST_INPUT
        self.zero = min(_MOST_INPUT, max(0, round(-least / self.step)))
        self.bias = linear.bias
        self.inverse: torch.Tensor
        self.register_buffer("inverse", 1.0 / smooth)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        scaled = (inputs * self.inverse).float()
        rounded = torch.fake_quantize_per_tensor_affine(
            scaled, self.step, self.zero, 0, _MOST_INPUT
        )
        return functional.linear(rounded, self.rounded(), self.bias)


class _RoundedEmbedding(_OnGrid):
    """Vectors in int8, which are not trained further."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__(embedding.weight)
        self.weight.requires_grad = False

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return functional.embedding(ids, self.rounded())
