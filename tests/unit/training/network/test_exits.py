"""A network with several exits answers after each as the network that is cut out of it."""

from __future__ import annotations

import pytest
import torch

from training.network.exits import ExitNetwork
from training.network.packaged_e5 import empty_encoder

WORDS = 50


def make_network(exits=(1, 2), layers=3) -> ExitNetwork:
    torch.manual_seed(5)
    return ExitNetwork(empty_encoder(vocabulary=WORDS, layers=layers), exits).eval()


def make_arrays() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return two windows of which one is padded, each with two tokens of context."""
    torch.manual_seed(6)
    mask = torch.ones((2, 12), dtype=torch.long)
    mask[1, 8:] = 0
    kinds = mask.clone()
    kinds[:, :2] = 0
    return torch.randint(1, WORDS, (2, 12)) * mask, kinds, mask


@pytest.fixture(scope="module")
def network() -> ExitNetwork:
    return make_network()


@pytest.mark.parametrize("after", [1, 2])
def test_the_network_cut_after_an_exit_says_what_the_exit_said(network, after):
    arrays = make_arrays()
    said = network.answers(*arrays)[network.exits.index(after)]

    with torch.no_grad():
        alone = network.cut(after)(*arrays)

    is_token = arrays[2].bool()
    assert torch.allclose(alone[0], said[0], atol=1e-4)
    assert torch.allclose(alone[1][is_token], said[1][is_token], atol=1e-4)


def test_a_cut_network_has_its_layers_alone_and_weights_of_its_own(network):
    cut = network.cut(1)

    with torch.no_grad():
        for parameter in cut.parameters():
            parameter.zero_()

    assert len(cut.encoder.encoder.layer) == 1
    assert len(network.encoder.encoder.layer) == 2
    assert network.heads[0].spam.weight.any()
    assert network.encoder.get_input_embeddings().weight.any()


def test_each_exit_has_heads_of_its_own(network):
    first, second = network.answers(*make_arrays())

    assert not torch.allclose(first[0], second[0])


@pytest.mark.parametrize("exits", [(), (0, 1), (2, 1), (1, 1), (1, 4)])
def test_exits_that_do_not_rise_or_are_not_there_are_refused(exits):
    with pytest.raises(ValueError, match="exits must rise and lie in 1 to 3"):
        make_network(exits)
