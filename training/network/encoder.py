"""The network that is fine-tuned: one encoder, a head for spam and one for promotion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

# Log-odds of spam (windows) and of promotion (windows, tokens).
Said = tuple[torch.Tensor, torch.Tensor]

# The layer whose states are pooled, counted from 0. Those after the last are spread along spam and
# ham alone; by the second the words of an advertisement still tell it from other advertisements.
_POOLED_LAYER = 1


class Heads(nn.Module):
    """Answers from an encoder's states; the text's tokens are pooled by mean and by maximum."""

    def __init__(self, hidden: int, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.spam = nn.Linear(2 * hidden, 1)
        self.promotion = nn.Linear(hidden, 1)

    def said(self, states: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> Said:
        """Return the answers to states of shape (windows, tokens, hidden)."""
        is_text = (mask * kinds).unsqueeze(-1).to(states.dtype)
        mean = (states * is_text).sum(1) / is_text.sum(1).clamp(min=1.0)
        highest = (states - (1.0 - is_text) * 1e4).amax(1)
        pooled = self.dropout(torch.cat([mean, highest], dim=-1))
        return self.spam(pooled).squeeze(-1), self.promotion(self.dropout(states)).squeeze(-1)


class Network(Heads):
    """One encoder and its heads; reads windows of tokens.

    Both methods take three integer tensors of the same shape (windows, tokens): vocabulary ids, the
    kind of each token (1 for the comment's text, 0 for what comes before it), and 1 for a token,
    0 for padding.
    """

    encoder: Any

    def __init__(self, encoder: nn.Module, *, hidden: int, dropout: float = 0.1) -> None:
        super().__init__(hidden, dropout=dropout)
        self.encoder = encoder

    def forward(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what is served of one window: the answers, and what an embedding is made from.

        That is the sum of the text's hidden states after a layer, each times the token's
        probability of promotion, of shape (1, 1, hidden). It is a product of matrices on purpose:
        OpenVINO computes what lies between the last such product and an output in float32, so any
        other output would change the precision, and with it the answers, of all the others.
        """
        states = self.states(ids, kinds, mask)
        spam, promotion = self.said(states[-1], kinds, mask)
        weights = torch.sigmoid(promotion) * (mask * kinds).to(promotion.dtype)
        layer = min(_POOLED_LAYER, len(states) - 2)
        return spam, promotion, torch.matmul(weights.unsqueeze(1), states[1 + layer])

    def states(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return the hidden states of the embeddings and after each layer."""
        states: tuple[torch.Tensor, ...] = self.encoder(
            input_ids=ids, token_type_ids=kinds, attention_mask=mask, output_hidden_states=True
        ).hidden_states
        return states

    def answers(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[Said, ...]:
        """Return what the network says, as its only exit."""
        return (self.said(self.states(ids, kinds, mask)[-1], kinds, mask),)


def keep_layers(encoder: Any, layers: Sequence[int]) -> None:
    """Drop all layers of a BERT encoder but those named. Raise `ValueError` for one it lacks."""
    stack: nn.ModuleList = encoder.encoder.layer
    wrong = [n for n in layers if not 0 <= n < len(stack)]
    if wrong or not layers:
        msg = f"layers must be some of 0 to {len(stack) - 1}, got {list(layers)}"
        raise ValueError(msg)
    encoder.encoder.layer = nn.ModuleList([stack[n] for n in layers])
    encoder.config.num_hidden_layers = len(layers)
