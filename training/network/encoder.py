"""The network: one encoder with outputs after several of its layers.

Each exit has a head for spam and one for promotion. All are trained together; the earlier ones
learn from the labels and from the last one (deep supervision, Lee et al. 2015). Serving uses the
second exit only if the first is unsure (early exits, Teerapittayanon et al. 2016), so a network is
served as two graphs: `First` and `Rest`.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import nn

# Log-odds of spam (windows) and of promotion (windows, tokens).
Logits = tuple[torch.Tensor, torch.Tensor]

# The layer whose states are pooled, counted from 0. The last layers' states differ only between
# spam and ham; the second's still differ between advertisements.
_POOLED_LAYER = 1


class Heads(nn.Module):
    """Outputs from an encoder's states; the text's tokens are pooled by mean and by maximum."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.spam = nn.Linear(2 * hidden, 1)
        self.promotion = nn.Linear(hidden, 1)

    def forward(self, states: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> Logits:
        """Return the outputs for states of shape (windows, tokens, hidden)."""
        is_text = (mask * kinds).unsqueeze(-1).to(states.dtype)
        mean = (states * is_text).sum(1) / is_text.sum(1).clamp(min=1.0)
        highest = (states - (1.0 - is_text) * 1e4).amax(1)
        pooled = torch.cat([mean, highest], dim=-1)
        return self.spam(pooled).squeeze(-1), self.promotion(states).squeeze(-1)


class Network(nn.Module):
    """One encoder and the heads of its exits; reads windows of tokens.

    Inputs are three integer tensors of the same shape (windows, tokens): vocabulary ids, the kind
    of each token (1 for the comment's text, 0 for its context), and a mask (1 for a token, 0 for
    padding). `exits` are rising numbers of layers; layers after the last are dropped.
    """

    def __init__(self, encoder: Any, exits: Sequence[int]) -> None:
        """Raise `ValueError` for an exit that the encoder does not have."""
        super().__init__()
        depth = len(encoder.encoder.layer)
        rise = list(exits) == sorted(set(exits))
        if not exits or not rise or not 1 <= exits[0] <= exits[-1] <= depth:
            msg = f"exits must rise and lie in 1 to {depth}, got {list(exits)}"
            raise ValueError(msg)
        encoder.encoder.layer = nn.ModuleList(encoder.encoder.layer[: exits[-1]])
        encoder.config.num_hidden_layers = exits[-1]
        # The fused kernel's backward pass takes a third of all time on a CPU.
        encoder.set_attn_implementation("eager")
        self.encoder = encoder
        self.exits = tuple(exits)
        self.heads = nn.ModuleList(Heads(encoder.config.hidden_size) for _ in exits)

    def forward(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[Logits, ...]:
        """Return the outputs of each exit, in order."""
        states = self.states(ids, kinds, mask, self.exits[-1])
        return tuple(
            cast("Heads", head)(states[after], kinds, mask)
            for after, head in zip(self.exits, self.heads, strict=True)
        )

    def states(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor, layers: int
    ) -> list[torch.Tensor]:
        """Return the hidden states of the embeddings and after each of the first layers."""
        states = [self.encoder.embeddings(input_ids=ids, token_type_ids=kinds)]
        return self.run_layers(states, mask, range(layers))

    def run_layers(
        self, states: list[torch.Tensor], mask: torch.Tensor, layers: Sequence[int]
    ) -> list[torch.Tensor]:
        """Return the states and those after each of these layers, starting from the last state."""
        ignored = (1.0 - mask[:, None, None, :].to(states[-1].dtype)) * -1e4
        found = list(states)
        for layer in layers:
            found.append(self.encoder.encoder.layer[layer](found[-1], ignored))
        return found


class First(nn.Module):
    """The graph up to the first exit, which reads every window."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return the first exit's outputs, the pooled states, and the states for the second part.

        The third output is the sum of the text's hidden states after a layer, each times its
        token's probability of promotion, of shape (1, 1, hidden). It is a matrix product because
        OpenVINO computes everything between the last such product and an output in float32.
        """
        after = self.network.exits[0]
        states = self.network.states(ids, kinds, mask, after)
        head = cast("Heads", self.network.heads[0])
        spam, promotion = head(states[after], kinds, mask)
        weights = torch.sigmoid(promotion) * (mask * kinds).to(promotion.dtype)
        pooled = states[1 + min(_POOLED_LAYER, after - 1)]
        logits = (spam, promotion, torch.matmul(weights.unsqueeze(1), pooled))
        return (*logits, states[after]) if len(self.network.exits) > 1 else logits


class Rest(nn.Module):
    """The graph from the first exit's states to the second exit."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, states: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the second exit's log-odds of spam and of promotion."""
        first, second = self.network.exits
        found = self.network.run_layers([states], mask, range(first, second))
        logits = cast("Heads", self.network.heads[1])(found[-1], kinds, mask)
        return logits[0], logits[1]
