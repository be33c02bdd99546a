"""Exports a trained network to OpenVINO graphs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from models.engine import INPUTS, OUTPUTS, PAD_TO, POOLED, STATES
from models.quiet_openvino import ov
from models.transformer import NETWORK_FILE, REST_FILE
from training.network.encoder import First, Network, Rest

_LONGEST = 256


def export_network(network: Network, folder: Path, *, short: bool) -> None:
    """Write `network.xml` and, if there is a second exit, `rest.xml` into the folder.

    Weights that `training.network.quantisation_aware` rounded are stored as int8. `short` stores
    the others in float16, otherwise they are float32.
    """
    network.eval()
    ids = torch.ones((1, PAD_TO), dtype=torch.long)
    has_rest = len(network.exits) > 1
    outputs = (*OUTPUTS, POOLED, *([STATES] if has_rest else []))
    first = _convert(First(network), dict.fromkeys(INPUTS, ids), outputs)
    _save(first, folder / NETWORK_FILE, short=short)
    if has_rest:
        states = torch.ones((1, PAD_TO, network.encoder.config.hidden_size))
        inputs = {STATES: states, "kinds": ids, "mask": ids}
        _save(_convert(Rest(network), inputs, OUTPUTS), folder / REST_FILE, short=short)


def _convert(part: nn.Module, inputs: Mapping[str, torch.Tensor], outputs: tuple[str, ...]) -> Any:
    with torch.no_grad():
        model = ov.convert_model(part, example_input=tuple(inputs.values()))
    for port, (name, value) in zip(model.inputs, inputs.items(), strict=True):
        port.get_tensor().set_names({name})
        shape = [1, ov.Dimension(1, _LONGEST), *value.shape[2:]]
        port.get_node().set_partial_shape(ov.PartialShape(shape))
    for port, name in zip(model.outputs, outputs, strict=True):
        port.get_tensor().set_names({name})
    model.validate_nodes_and_infer_types()
    return model


def _save(model: Any, path: Path, *, short: bool) -> None:
    # Imported late: it would load the telemetry that `models.quiet_openvino` prevents.
    from openvino._offline_transformations import compress_quantize_weights_transformation

    compress_quantize_weights_transformation(model)
    ov.save_model(model, path, compress_to_fp16=short)
