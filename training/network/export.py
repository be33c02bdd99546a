"""Turns a trained network into the file that serves: an OpenVINO graph in static int8."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from models.engine import INPUTS, OUTPUTS, PAD_TO, input_arrays
from models.quiet_openvino import ov
from models.tokens import Window
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from training.network.encoder import Network
from training.network.less_rounding import HEADS_NODES, with_less_rounding

_LONGEST = 256


def export_network(
    network: Network, folder: Path, *, calibrate_on: Sequence[Window], int8: bool = True
) -> None:
    """Write `network.xml` and `network.bin` into the folder.

    The ranges of activations are fixed once, on `calibrate_on`: with ranges taken from each input
    a comment's score would depend on how it is batched. Matrices and embeddings are stored as
    int8; the heads, attention and everything between matrices stay in floating point. Without
    `int8` all is kept in float32.
    """
    # Not earlier: it would load the telemetry that `models.quiet_openvino` shuts out.
    import nncf

    model = _convert(network)
    if int8:
        data = nncf.Dataset([input_arrays(window) for window in calibrate_on])
        model = nncf.quantize(
            model,
            data,
            model_type=nncf.ModelType.TRANSFORMER,
            preset=nncf.QuantizationPreset.MIXED,
            subset_size=len(calibrate_on),
            ignored_scope=nncf.IgnoredScope(
                patterns=[HEADS_NODES], types=["ScaledDotProductAttention"]
            ),
        )
    ov.save_model(model, folder / NETWORK_FILE, compress_to_fp16=int8)
    if int8:
        # What NNCF is told to leave alone it scales all the same, as if it were to be rounded.
        paths = [folder / name for name in (NETWORK_FILE, WEIGHTS_FILE)]
        files = with_less_rounding(*(path.read_bytes() for path in paths))
        for path, content in zip(paths, files, strict=True):
            path.write_bytes(content)


def _convert(network: Network) -> ov.Model:
    shape = (1, PAD_TO)
    example = tuple(torch.ones(shape, dtype=torch.long) for _ in INPUTS)
    network.eval()
    with torch.no_grad():
        model = ov.convert_model(network, example_input=example)
    for port, name in zip(model.inputs, INPUTS, strict=True):
        port.get_tensor().set_names({name})
        port.get_node().set_partial_shape(ov.PartialShape([1, ov.Dimension(1, _LONGEST)]))
    for port, name in zip(model.outputs, OUTPUTS, strict=True):
        port.get_tensor().set_names({name})
    model.validate_nodes_and_infer_types()
    return model
