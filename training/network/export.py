"""Turns a trained network into the file that serves: an OpenVINO graph."""

from __future__ import annotations

from pathlib import Path

import torch

from models.engine import INPUTS, OUTPUTS, PAD_TO, POOLED
from models.quiet_openvino import ov
from models.transformer import NETWORK_FILE
from training.network.encoder import Network

_LONGEST = 256


def export_network(network: Network, folder: Path, *, short: bool) -> None:
    """Write `network.xml` and `network.bin` into the folder.

    Weights of a network that `training.network.quantisation_aware` rounded are stored as int8;
    `short` stores all others in float16, else they stay in float32.
    """
    # Not earlier: it would load the telemetry that `models.quiet_openvino` shuts out.
    from openvino._offline_transformations import compress_quantize_weights_transformation

    shape = (1, PAD_TO)
    example = tuple(torch.ones(shape, dtype=torch.long) for _ in INPUTS)
    network.eval()
    with torch.no_grad():
        model = ov.convert_model(network, example_input=example)
    for port, name in zip(model.inputs, INPUTS, strict=True):
        port.get_tensor().set_names({name})
        port.get_node().set_partial_shape(ov.PartialShape([1, ov.Dimension(1, _LONGEST)]))
    for port, name in zip(model.outputs, (*OUTPUTS, POOLED), strict=True):
        port.get_tensor().set_names({name})
    model.validate_nodes_and_infer_types()
    compress_quantize_weights_transformation(model)
    ov.save_model(model, folder / NETWORK_FILE, compress_to_fp16=short)
