"""Only what the encoder's matrices multiply is rounded, in new exports and in old ones made so."""

from __future__ import annotations

from pathlib import Path

import nncf
import numpy as np
import pytest
import torch

from models.engine import Engine, input_arrays
from models.quiet_openvino import ov
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from tests.unit.training.read_comments import COMMENTS
from training.network.encoder import PACKAGED_BASE, load_network
from training.network.export import export_network
from training.network.from_version import load_from_version
from training.network.less_rounding import with_less_rounding
from training.network.pooling import with_pooling


@pytest.fixture(scope="module")
def windows(tokeniser):
    return [tokeniser.windows(one)[0] for one in COMMENTS]


@pytest.fixture(scope="module")
def in_float(tmp_path_factory) -> Path:
    """Return the file of a network of one layer whose weights and activations are float32."""
    torch.manual_seed(11)
    network = load_network(PACKAGED_BASE, layers=(0,))
    folder = tmp_path_factory.mktemp("float")
    export_network(network, folder, calibrate_on=(), int8=False)
    return folder / NETWORK_FILE


@pytest.fixture(scope="module")
def rounded_all_over(in_float, windows, tmp_path_factory) -> Path:
    """Return the same network as exports once rounded it: heads and attention, too."""
    model = nncf.quantize(
        ov.Core().read_model(in_float),
        nncf.Dataset([input_arrays(window) for window in windows]),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(windows),
    )
    folder = tmp_path_factory.mktemp("rounded")
    ov.save_model(model, folder / NETWORK_FILE)
    return folder / NETWORK_FILE


def files_of(network: Path) -> tuple[bytes, bytes]:
    return network.read_bytes(), network.with_name(WEIGHTS_FILE).read_bytes()


@pytest.fixture(scope="module")
def rounded_less(rounded_all_over, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("less")
    network, weights = with_less_rounding(*files_of(rounded_all_over))
    (folder / NETWORK_FILE).write_bytes(network)
    (folder / WEIGHTS_FILE).write_bytes(weights)
    return folder / NETWORK_FILE


def readers_of_rounded(network: Path) -> set[tuple[str, str]]:
    """Return what reads rounded activations: the kind of node, and the module it belongs to."""
    return {
        (reader.get_type_name(), reader.get_friendly_name().partition("/")[0])
        for node in ov.Core().read_model(network).get_ordered_ops()
        if node.get_type_name() == "FakeQuantize"
        for target in node.output(0).get_target_inputs()
        for reader in (target.get_node(),)
    }


def ask(network: Path, windows) -> np.ndarray:
    scores = Engine(network, exact=True).read(windows)
    return np.array([[one.spam, one.llm_voice] for one in scores])


ENCODER = "__module.encoder.encoder.layer.0"
PRODUCTS = {
    ("MatMul", f"{ENCODER}.{name}")
    for name in (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
    )
}


def test_an_export_rounds_only_what_the_encoders_matrices_multiply(tiny_network):
    assert readers_of_rounded(tiny_network) == PRODUCTS


def test_an_older_export_then_rounds_no_more_than_that(rounded_all_over, rounded_less):
    assert ("MatMul", "__module.spam") in readers_of_rounded(rounded_all_over)
    assert readers_of_rounded(rounded_less) == PRODUCTS


def test_it_comes_closer_to_the_network_in_float(in_float, rounded_all_over, rounded_less, windows):
    exact = ask(in_float, windows)

    before = np.abs(ask(rounded_all_over, windows) - exact).mean()
    after = np.abs(ask(rounded_less, windows) - exact).mean()

    assert 0.0 < after < before


def test_the_weights_are_the_same_to_the_bit(rounded_all_over, rounded_less):
    before, _ = load_from_version(*files_of(rounded_all_over))
    after, _ = load_from_version(*files_of(rounded_less))

    for name, values in before.state_dict().items():
        assert torch.equal(after.state_dict()[name], values), name


def test_it_is_written_back_byte_for_byte(rounded_less):
    network, served = load_from_version(*files_of(rounded_less))

    assert served.write(network) == files_of(rounded_less)


@pytest.mark.parametrize("made", ["tiny_network", "rounded_less"])
def test_the_engine_says_nearly_the_same_where_it_computes_in_short_numbers(made, windows, request):
    path = request.getfixturevalue(made)

    served, exact = Engine(path).read(windows), Engine(path, exact=True).read(windows)

    for one, other in zip(served, exact, strict=True):
        assert one.spam == pytest.approx(other.spam, abs=0.1)
        assert one.llm_voice == pytest.approx(other.llm_voice, abs=0.1)
        assert list(one.promotion) == pytest.approx(list(other.promotion), abs=0.1)


def test_it_can_be_given_the_output_for_embeddings(rounded_less, windows, tmp_path):
    network, weights = files_of(rounded_less)
    (tmp_path / NETWORK_FILE).write_bytes(with_pooling(network, layer=0))
    (tmp_path / WEIGHTS_FILE).write_bytes(weights)

    pooled, plain = (
        Engine(tmp_path / NETWORK_FILE).read(windows),
        Engine(rounded_less).read(windows),
    )

    assert [one.spam for one in pooled] == [one.spam for one in plain]
    assert all(one.pooled is not None for one in pooled)


def test_a_network_that_rounds_no_more_is_returned_as_it_is(tiny_network, rounded_less):
    for network in (tiny_network, rounded_less):
        assert with_less_rounding(*files_of(network)) == files_of(network)


def test_a_graph_of_another_make_is_refused():
    with pytest.raises(ValueError, match="not of our export"):
        with_less_rounding(b"<net><layers/><edges/></net>", b"")
