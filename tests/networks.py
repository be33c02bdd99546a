"""A real network, tiny and taught nothing, and the tokeniser that goes with it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models.inputs import ModelInput
from models.linear import LinearTable, table_bytes
from models.registry import SHIPPED_DIR, Fusion, read_current_name, write_version
from models.tokens import CommentTokeniser

_TEXTS = (
    "",
    "Which spanner did you use? The valve is behind the boiler.",
    "Buy cheap watches at https://watches-deal.example/shop 50% off",
    "```\nsudo systemctl restart nginx\n```",
    "Спасибо, помогло",
    "The second paragraph says the opposite of the first. " * 30,
    "谢谢,非常有用",
)


def shipped_tokeniser() -> str:
    """Return the tokeniser's file of the version that is shipped."""
    return (SHIPPED_DIR / read_current_name() / "tokenizer.json").read_text("utf-8")


@pytest.fixture(scope="session")
def tokeniser_json() -> str:
    return shipped_tokeniser()


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


@pytest.fixture(scope="session")
def tiny_engine(tiny_network):
    from models.engine import Engine

    return Engine(tiny_network, threads=2)


TINY_FUSION = Fusion(
    base=0.25,
    model_weight=0.75,
    signal_weights={"shortened_link": 0.5},
    ham_cutoff=0.1,
    spam_cutoff=0.9,
    promises={"ham_called_spam": {"promised_rate": 0.001}},
)
TINY_LINEAR = LinearTable(ids=np.arange(64), coefficients=np.full(64, 0.5), intercept=-0.25)


@pytest.fixture
def write_tiny(tmp_path, tiny_network, tokeniser_json) -> Callable[..., Path]:
    """Return a function that writes a version into `tmp_path`; None leaves a file out."""
    # Not earlier: only the tests that need a network load an inference engine.
    from models import transformer

    calibration = transformer.Calibration(offset=0.1, network=1.5, linear=0.5, marks_from=-100.0)
    weights_file = tiny_network.with_name(transformer.WEIGHTS_FILE)

    def write(changes=None, name="tiny-1") -> Path:
        files = {
            transformer.NETWORK_FILE: tiny_network.read_bytes(),
            transformer.WEIGHTS_FILE: weights_file.read_bytes(),
            transformer.TOKENISER_FILE: tokeniser_json.encode("utf-8"),
            transformer.LINEAR_FILE: table_bytes(TINY_LINEAR),
            transformer.CALIBRATION_FILE: transformer.calibration_bytes(calibration),
        } | (changes or {})
        return write_version(
            tmp_path,
            name,
            kind=transformer.TransformerClassifier.KIND,
            weights={name: content for name, content in files.items() if content is not None},
            fusion=TINY_FUSION,
            documents={"card.md": "# A card"},
        )

    return write
