"""A real network, tiny and taught nothing, and the tokeniser that goes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.inputs import ModelInput
from models.registry import SHIPPED_DIR, read_current_name
from models.tokens import CommentTokeniser

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
    """Return the tokeniser's file of the version that is shipped."""
    return (SHIPPED_DIR / read_current_name() / "tokenizer.json").read_text("utf-8")


@pytest.fixture(scope="session")
def tokeniser(tokeniser_json) -> CommentTokeniser:
    return CommentTokeniser(tokeniser_json)


@pytest.fixture(scope="session")
def tiny_network(tmp_path_factory, tokeniser) -> Path:
    """Return the file of a network of one layer in int8, its weights as they were drawn."""
    # Not earlier: only the tests that need a network wait for torch.
    from models.transformer import NETWORK_FILE
    from tests.encoders import small_network
    from training.network.export import export_network
    from training.network.quantisation_aware import round_network

    windows = [tokeniser.windows(ModelInput(text=text))[0] for text in _TEXTS]
    folder = tmp_path_factory.mktemp("network")
    export_network(round_network(small_network(), windows), folder, short=True)
    return folder / NETWORK_FILE
