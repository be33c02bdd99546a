"""Exports a network to int8 and lets it learn to say so what it said before it was rounded."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import nn

from models.tokens import CommentTokeniser
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from training.data.dataset import Example
from training.data.training_examples import TrainingExample
from training.network.encoder import Network
from training.network.export import export_network
from training.network.finetune import FineTuneConfig, fine_tune
from training.network.from_version import load_from_version


def export_quantisation_aware(
    network: Network,
    train: Sequence[Example],
    tokeniser: CommentTokeniser,
    config: FineTuneConfig,
    *,
    windows: int,
    seed: int,
) -> tuple[bytes, bytes]:
    """Return `network.xml` and `network.bin` of a network in int8.

    So many windows of the train part fix the ranges of activations. Then its matrices learn on the
    grid of int8, from the network before it was rounded and from nothing else (quantisation-aware
    training, Jacob et al. 2018, with distillation): rounding alone changes a verdict in a hundred.
    The vocabulary's vectors stay as they were rounded. Raise `ValueError` for a network whose graph
    cannot be read back.
    """
    drawn = np.random.default_rng(seed).permutation(len(train))[:windows].tolist()
    with tempfile.TemporaryDirectory() as folder:
        sample = [tokeniser.windows(train[i].input)[0] for i in drawn]
        export_network(network, Path(folder), calibrate_on=sample)
        files = Path(folder, NETWORK_FILE).read_bytes(), Path(folder, WEIGHTS_FILE).read_bytes()
    rounded, served = load_from_version(*files)
    freeze_vocabulary(rounded)
    served.fake_quantise(rounded)
    training_examples = [TrainingExample(input=e.input, as_before=True) for e in train]
    fine_tune(rounded, tokeniser, training_examples, config, seed=seed, before=network)
    return served.write(rounded)


def freeze_vocabulary(network: Network) -> None:
    """Let further training leave the vectors of words as they are."""
    for module in network.modules():
        if isinstance(module, nn.Embedding):
            module.requires_grad_(requires_grad=False)
