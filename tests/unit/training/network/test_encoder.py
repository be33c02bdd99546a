"""A network answers after each exit, and its two graphs say together what it says."""

from __future__ import annotations

import pytest
import torch

from training.network.encoder import First, Network, Rest
from training.network.packaged_e5 import empty_encoder

WORDS = 50


def make_network(exits=(1, 2), layers=3) -> Network:
    torch.manual_seed(5)
    return Network(empty_encoder(vocabulary=WORDS, layers=layers), exits).eval()


def make_arrays() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return two windows of which one is padded, each with two tokens of context."""
    torch.manual_seed(6)
    mask = torch.ones((2, 12), dtype=torch.long)
    mask[1, 8:] = 0
    kinds = mask.clone()
    kinds[:, :2] = 0
    return torch.randint(1, WORDS, (2, 12)) * mask, kinds, mask


@pytest.mark.parametrize("exits", [(1, 2), (1, 3)])
def test_the_graphs_say_what_the_exits_say(exits):
    network, (ids, kinds, mask) = make_network(exits), make_arrays()
    first, last = network.answers(ids, kinds, mask)

    *said_first, _, states = First(network)(ids, kinds, mask)
    said_last = Rest(network)(states, kinds, mask)

    for said, expected in zip((*said_first, *said_last), (*first, *last), strict=True):
        assert torch.equal(said, expected)
    assert not torch.allclose(first[0], last[0])


def test_padding_changes_no_answer():
    network, (ids, kinds, mask) = make_network(), make_arrays()

    padded = network.answers(ids, kinds, mask)[-1][0][1]
    alone = network.answers(ids[1:, :8], kinds[1:, :8], mask[1:, :8])[-1][0][0]

    assert torch.allclose(padded, alone, atol=1e-5)


def test_layers_after_the_last_exit_are_dropped():
    assert len(make_network((1, 2)).encoder.encoder.layer) == 2


@pytest.mark.parametrize("exits", [(), (0, 1), (2, 1), (1, 1), (1, 4)])
def test_exits_that_do_not_rise_or_are_not_there_are_refused(exits):
    with pytest.raises(ValueError, match="exits must rise and lie in 1 to 3"):
        make_network(exits)
