"""A network scores after each exit; in int8 it scores nearly as before."""

import numpy as np
import pytest
import torch

from models.engine import Engine, Rest
from models.inputs import ModelInput
from models.quiet_openvino import ov
from models.transformer import NETWORK_FILE, REST_FILE, WEIGHTS_FILE
from tests.encoders import small_network
from training.data.dataset import DEFAULT_DATA, read_dataset
from training.network import encoder
from training.network.encoder import First, Network
from training.network.export import export_network
from training.network.finetune import FineTuneConfig
from training.network.packaged_e5 import empty_encoder
from training.network.quantisation_aware import export_quantisation_aware, round_network

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
    first, last = network(ids, kinds, mask)

    *said_first, _, states = First(network)(ids, kinds, mask)
    said_last = encoder.Rest(network)(states, kinds, mask)

    for logits, expected in zip((*said_first, *said_last), (*first, *last), strict=True):
        assert torch.equal(logits, expected)
    assert not torch.allclose(first[0], last[0])


@pytest.fixture(scope="module")
def windows(tokeniser):
    return [tokeniser.windows(one)[0] for one in COMMENTS]


@pytest.fixture(scope="module")
def served(tmp_path_factory, windows):
    """Return the folders of a network as it was drawn, and rounded to int8."""
    network = small_network(exits=(1, 2))
    folders = {name: tmp_path_factory.mktemp(name) for name in ("float", "int8")}
    export_network(network, folders["float"], short=False)
    export_network(round_network(network, windows), folders["int8"], short=True)
    return folders


def logits(folder, windows) -> np.ndarray:
    rest = Rest(network=folder / REST_FILE, above=-1e9, below=1e9)
    scores = Engine(folder / NETWORK_FILE, rest=rest, exact=True).read(windows)
    return np.concatenate([[one.spam, *one.promotion] for one in scores])


def test_rounding_changes_little(served, windows):
    before, after = logits(served["float"], windows), logits(served["int8"], windows)

    assert np.abs(after - before).max() < 0.05
    assert not np.array_equal(before, after)


def test_the_encoder_is_stored_in_int8_and_the_heads_are_not(served):
    model = ov.Core().read_model(served["int8"] / NETWORK_FILE)
    kinds = {
        name: op.input_value(1).get_node().get_type_name()
        for op in model.get_ordered_ops()
        if op.get_type_name() == "MatMul" and "aten::linear" in (name := op.get_friendly_name())
    }

    of_encoder = {kind for name, kind in kinds.items() if ".encoder." in name}
    # Whole numbers are widened and multiplied by their scale.
    assert of_encoder == {"Multiply"}
    assert len(kinds) == 6 + 2
    size = (served["int8"] / WEIGHTS_FILE).stat().st_size
    assert size < 0.3 * (served["float"] / WEIGHTS_FILE).stat().st_size


def test_the_gradient_passes_the_rounding_and_words_learn_nothing(windows, tokeniser):
    network = round_network(small_network(), windows)
    ids = torch.tensor([windows[0].ids])

    network(ids, torch.ones_like(ids), torch.ones_like(ids))[0][0].sum().backward()

    query = network.encoder.encoder.layer[0].attention.self.query
    assert float(query.weight.grad.abs().sum()) > 0.0
    assert not network.encoder.embeddings.word_embeddings.weight.requires_grad


def test_a_network_learns_on_the_grid_to_say_what_it_said(served, tokeniser, windows, tmp_path):
    examples = read_dataset([DEFAULT_DATA / "authored-t1.jsonl"]).examples[:16]
    config = FineTuneConfig(epochs=1.0, batch_size=8, learning_rate=1e-5)

    files = export_quantisation_aware(
        small_network(exits=(1, 2)), examples, tokeniser, config, windows=12, seed=1
    )

    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert np.abs(logits(tmp_path, windows) - logits(served["float"], windows)).max() < 0.1


COMMENTS = [
    ModelInput(text="Thanks! Cheap valves at https://valves-and-more.shop"),
    ModelInput(text="The valve is behind the boiler. " * 20, post_title="Bleeding a radiator"),
    ModelInput(text="I had the same trouble, and it was the washer in the end.", author_name="Jo"),
    ModelInput(text="WhatsApp +1 202 555 0100 for loans, no questions asked!!!"),
]


@pytest.mark.parametrize("exits", [(), (0, 1), (2, 1), (1, 1), (1, 4)])
def test_exits_that_do_not_rise_or_are_not_there_are_refused(exits):
    with pytest.raises(ValueError, match="exits must rise and lie in 1 to 3"):
        make_network(exits)


def test_layers_after_the_last_exit_are_dropped():
    assert len(make_network((1, 2)).encoder.encoder.layer) == 2
