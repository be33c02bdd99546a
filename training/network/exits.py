"""One encoder that answers after several of its layers, so that one training makes several readers.

Each exit has heads of its own; the earlier ones learn, beside the labels, what the last one says
(deep supervision, Lee et al. 2015; early exits, Teerapittayanon et al. 2016).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, cast

import torch
from torch import nn

from training.network.encoder import Heads, Network, Said, keep_layers


class ExitNetwork(nn.Module):
    """Reads windows of tokens and answers after each of `exits` layers, in rising order."""

    def __init__(self, encoder: Any, exits: Sequence[int]) -> None:
        """Raise `ValueError` for an exit that the encoder does not have."""
        super().__init__()
        depth = len(encoder.encoder.layer)
        if (
            not exits
            or sorted(set(exits)) != list(exits)
            or not 1 <= exits[0] <= exits[-1] <= depth
        ):
            msg = f"exits must rise and lie in 1 to {depth}, got {list(exits)}"
            raise ValueError(msg)
        keep_layers(encoder, range(exits[-1]))
        # The fused kernel's way back takes a third of all time on a CPU.
        encoder.set_attn_implementation("eager")
        self.encoder = encoder
        self.exits = tuple(exits)
        self.heads = nn.ModuleList(Heads(encoder.config.hidden_size) for _ in exits)

    def answers(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[Said, ...]:
        """Return what each exit says, the last exit last."""
        states = self.encoder(
            input_ids=ids, token_type_ids=kinds, attention_mask=mask, output_hidden_states=True
        ).hidden_states
        heads = cast("Iterable[Heads]", self.heads)
        return tuple(
            one.said(states[after], kinds, mask)
            for after, one in zip(self.exits, heads, strict=True)
        )

    def cut(self, after: int) -> Network:
        """Return the network that answers after so many layers, on its own. Copies its weights."""
        encoder = copy.deepcopy(self.encoder)
        keep_layers(encoder, range(after))
        encoder.set_attn_implementation("sdpa")
        network = Network(encoder, hidden=encoder.config.hidden_size)
        heads = self.heads[self.exits.index(after)]
        network.load_state_dict(
            {f"encoder.{name}": v for name, v in encoder.state_dict().items()} | heads.state_dict()
        )
        return network.eval()
