"""A served network is read back into torch, and written into the same graph again."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.engine import Engine, input_arrays
from models.quiet_openvino import ov
from models.registry import SHIPPED_DIR, read_current_name
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from tests.unit.training.read_comments import COMMENTS
from training.network.from_version import load_from_version

SHIPPED = SHIPPED_DIR / read_current_name(SHIPPED_DIR)


@pytest.fixture(scope="module")
def tiny_files(tiny_network) -> tuple[bytes, bytes]:
    return tiny_network.read_bytes(), tiny_network.with_name(WEIGHTS_FILE).read_bytes()


@pytest.fixture(scope="module")
def shipped_files() -> tuple[bytes, bytes]:
    return (SHIPPED / NETWORK_FILE).read_bytes(), (SHIPPED / WEIGHTS_FILE).read_bytes()


def ask(network, windows) -> np.ndarray:
    """Return a torch network's log-odds of windows: of spam, and of their first word."""
    answers = []
    for window in windows:
        arrays = (torch.from_numpy(a) for a in input_arrays(window).values())
        with torch.no_grad():
            spam, promotion, _ = network(*arrays)
        answers.append([float(spam[0]), float(promotion[0, window.n_context])])
    return np.array(answers)


def ask_without_rounded_activations(path, windows) -> np.ndarray:
    """Return what the graph says if only its weights are in int8."""
    core = ov.Core()
    model = core.read_model(path)
    for node in model.get_ordered_ops():
        if node.get_type_name() == "FakeQuantize":
            for target in list(node.output(0).get_target_inputs()):
                target.replace_source_output(node.input_value(0))
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    said = [(compiled(input_arrays(window)), window.n_context) for window in windows]
    return np.array([[float(o["spam"][0]), float(o["promotion"][0, at])] for o, at in said])


def test_the_shipped_network_says_in_torch_what_its_graph_says(shipped_files, tokeniser):
    windows = [tokeniser.windows(one)[0] for one in COMMENTS]
    network, _ = load_from_version(*shipped_files)

    said = ask(network, windows)

    # Without rounding of activations both compute the same, but for float16 here and there.
    expected = ask_without_rounded_activations(SHIPPED / NETWORK_FILE, windows)
    assert np.abs(said - expected).max() < 0.1
    served = np.array([s.spam for s in Engine(SHIPPED / NETWORK_FILE).read(windows)])
    assert np.corrcoef(said[:, 0], served)[0, 1] > 0.99


def test_a_network_that_learnt_nothing_is_written_back_byte_for_byte(tiny_files):
    network, served = load_from_version(*tiny_files)

    assert served.write(network) == tiny_files


def test_a_network_on_the_grid_says_the_same_and_is_written_back_byte_for_byte(
    tiny_files, tokeniser
):
    windows = [tokeniser.windows(one)[0] for one in COMMENTS]
    network, served = load_from_version(*tiny_files)
    before = ask(network, windows)

    served.fake_quantise(network)

    assert np.array_equal(ask(network, windows), before)
    assert served.write(network) == tiny_files


def test_what_was_learnt_is_served_as_it_was_trained(tiny_files, tokeniser, tmp_path):
    windows = [tokeniser.windows(one)[0] for one in COMMENTS]
    network, served = load_from_version(*tiny_files)
    served.fake_quantise(network)
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(1 + 0.05 * torch.randn_like(parameter))
    said = ask(network, windows)

    xml, weights = served.write(network)

    (tmp_path / NETWORK_FILE).write_bytes(xml)
    (tmp_path / WEIGHTS_FILE).write_bytes(weights)
    expected = ask_without_rounded_activations(tmp_path / NETWORK_FILE, windows)
    again, _ = load_from_version(xml, weights)
    assert weights != tiny_files[1]
    assert np.abs(said - expected).max() < 0.02
    assert np.abs(ask(again, windows) - said).max() < 0.02


def test_the_gradient_passes_the_rounding(tiny_files, tokeniser):
    network, served = load_from_version(*tiny_files)
    served.fake_quantise(network)
    arrays = (torch.from_numpy(a) for a in input_arrays(tokeniser.windows(COMMENTS[0])[0]).values())

    network(*arrays)[0].sum().backward()

    query = network.encoder.encoder.layer[0].attention.self.query
    gradient = query.parametrizations.weight.original.grad
    assert gradient is not None
    assert float(gradient.abs().sum()) > 0.0


def test_a_graph_that_lacks_weights_is_refused_by_their_names(tiny_files):
    network = tiny_files[0].replace(b"layer.0.output.dense/aten::linear/MatMul", b"gone")

    with pytest.raises(
        ValueError, match=r"lacks encoder\.encoder\.layer\.0\.output\.dense\.weight"
    ):
        load_from_version(network, tiny_files[1])


def test_a_graph_of_another_make_is_refused():
    with pytest.raises(ValueError, match="no layers of our export"):
        load_from_version(b"<net><layers/><edges/></net>", b"")
