"""Thin matrices beside whole ones: what learns, and what is left of them."""

from __future__ import annotations

import pytest
import torch

from training.low_rank import LowRank, adapt, merge
from training.network import PACKAGED_BASE, Network, load_network

IDS = torch.tensor([[101, 2023, 2003, 102, 2307, 102]])
KINDS = torch.tensor([[0, 0, 0, 0, 1, 1]])


@pytest.fixture
def network() -> Network:
    torch.manual_seed(3)
    return load_network(PACKAGED_BASE, layers=(0,)).eval()


def answer(network: Network) -> torch.Tensor:
    with torch.no_grad():
        return network(IDS, KINDS, torch.ones_like(IDS))[0]


def learn_one_step(network: Network) -> None:
    optimiser = torch.optim.SGD([p for p in network.parameters() if p.requires_grad], lr=0.5)
    network(IDS, KINDS, torch.ones_like(IDS))[0].sum().backward()
    optimiser.step()


def test_nothing_changes_before_the_first_step(network):
    before = answer(network)

    adapt(network, rank=4)

    assert torch.allclose(answer(network), before)


def test_only_thin_matrices_and_heads_learn(network):
    adapt(network, rank=4)

    learning = {name for name, p in network.named_parameters() if p.requires_grad}

    heads = {
        f"{head}.{one}" for head in ("spam", "promotion", "llm_voice") for one in ("weight", "bias")
    }
    thin = learning - heads
    assert heads <= learning
    assert {name.rsplit(".", 1)[1] for name in thin} == {"up", "down"}
    # Queries, keys, values, what attention gives, and both matrices of the feed-forward part.
    assert len(thin) == 2 * 6


def test_what_was_learnt_is_merged_and_says_the_same(network):
    untouched = answer(network)
    adapt(network, rank=4)
    learn_one_step(network)
    learn_one_step(network)
    adapted = answer(network)

    merge(network)

    assert not torch.allclose(adapted, untouched)
    assert torch.allclose(answer(network), adapted, atol=1e-5)
    assert not any(isinstance(one, LowRank) for one in network.modules())
    assert set(network.state_dict()) == set(load_network(PACKAGED_BASE, layers=(0,)).state_dict())
