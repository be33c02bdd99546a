"""Turns a trained network into the file that serves: an OpenVINO graph in static int8."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from models.engine import PAD_TO
from models.quiet_openvino import ov
from models.tokens import Window
from models.transformer import NETWORK_FILE
from training.network import Network

_NAMES = ("ids", "kinds", "mask")
_ANSWERS = ("spam", "promotion", "llm_voice")
_LONGEST = 256


def export_network(
    network: Network, folder: Path, *, calibrate_on: Sequence[Window], int8: bool = True
) -> None:
    """Write `network.xml` and `network.bin` into the folder.

    The ranges of activations are fixed once, on `calibrate_on`: with ranges taken from each input
    a comment's score would depend on how it is batched. Matrices and embeddings are stored as
    int8, the heads and everything between matrices stay in floating point. Without `int8` all is
    kept in float32.
    """
    # Not earlier: it would load the telemetry that `models.quiet_openvino` shuts out.
    import nncf

    model = _convert(network)
    if int8:
        data = nncf.Dataset([_arrays(window) for window in calibrate_on])
        model = nncf.quantize(
            model,
            data,
            model_type=nncf.ModelType.TRANSFORMER,
            preset=nncf.QuantizationPreset.MIXED,
            subset_size=len(calibrate_on),
        )
    ov.save_model(model, folder / NETWORK_FILE, compress_to_fp16=int8)


def _convert(network: Network) -> ov.Model:
    shape = (1, PAD_TO)
    example = tuple(torch.ones(shape, dtype=torch.long) for _ in _NAMES)
    network.eval()
    with torch.no_grad():
        model = ov.convert_model(network, example_input=example)
    for port, name in zip(model.inputs, _NAMES, strict=True):
        port.get_tensor().set_names({name})
        port.get_node().set_partial_shape(ov.PartialShape([1, ov.Dimension(1, _LONGEST)]))
    for port, name in zip(model.outputs, _ANSWERS, strict=True):
        port.get_tensor().set_names({name})
    model.validate_nodes_and_infer_types()
    return model


def _arrays(window: Window) -> dict[str, np.ndarray]:
    length = -(-len(window.ids) // PAD_TO) * PAD_TO
    ids, kinds, mask = (np.zeros((1, length), dtype=np.int64) for _ in _NAMES)
    ids[0, : len(window.ids)] = window.ids
    kinds[0, window.n_context : len(window.ids)] = 1
    mask[0, : len(window.ids)] = 1
    return {"ids": ids, "kinds": kinds, "mask": mask}
