"""Computes a network's int8 products in float32 if this CPU cannot add them up exactly.

A CPU without dot products of bytes (VNNI on x86-64) adds two products up in 16 bits and cuts off
the overflow (oneDNN, "Nuances of int8 Computations"), so its scores would differ from those that
were measured. Float32 holds these sums, and is faster on such a CPU.
"""

from functools import cache

import numpy as np

from models.quiet_openvino import ov

_ops = ov.opset13

# The largest int8 weights and inputs; two products of them overflow 16 bits.
_LARGEST = 127
# The width of a network's narrowest matrix, and the rows of a short window.
_WIDTH, _ROWS = 384, 16


def prepare_for_cpu(core: ov.Core, model: ov.Model) -> None:
    """Change a network in place so that its sums are the same on every CPU.

    A product's inputs are still rounded to int8, as in training.
    """
    _look_up_before_widening(model)
    if not _adds_up_exactly(core):
        _hold_weights_in_float32(model)


def _look_up_before_widening(model: ov.Model) -> None:
    """Widen only the rows of a table that are looked up, not the whole table.

    The numbers stay the same, and the words' vectors (30,522 of 384) take 12 MB instead of 47.
    """
    for gather in model.get_ordered_ops():
        if gather.get_type_name() != "Gather":
            continue
        scaled = gather.input_value(0).get_node()
        if scaled.get_type_name() != "Multiply":
            continue
        widened, scale = (scaled.input_value(place).get_node() for place in (0, 1))
        ids, axis = gather.input_value(1), gather.input_value(2)
        if (
            widened.get_type_name() != "Convert"
            or scale.get_type_name() != "Constant"
            # The table must have one scale per row, and be read by rows.
            or list(scale.data.shape) != [widened.output(0).shape[0], 1]
            or axis.get_node().get_type_name() != "Constant"
            or axis.get_node().data.any()
        ):
            continue
        rows = _ops.convert(_ops.gather(widened.input_value(0), ids, axis), "f32")
        looked_up = _ops.multiply(rows, _ops.gather(scale, ids, axis))
        gather.output(0).replace(looked_up.output(0))


@cache
def _adds_up_exactly(core: ov.Core) -> bool:
    """Return True if the engine computes a known int8 sum correctly."""
    rows = _ops.parameter([_ROWS, _WIDTH], np.float32)
    low, high = (np.float32(end) for end in (-_LARGEST - 1, _LARGEST))
    rounded = _ops.fake_quantize(rows, low, high, low, high, 256)
    stored = _ops.constant(np.full((_WIDTH, _WIDTH), _LARGEST, dtype=np.int8))
    weights = _ops.multiply(_ops.convert(stored, "f32"), np.float32(1))
    product = _ops.matmul(rounded, weights, transpose_a=False, transpose_b=True)
    compiled = core.compile_model(
        ov.Model([product], [rows], "sum"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    (sums,) = compiled([np.full((_ROWS, _WIDTH), _LARGEST, dtype=np.float32)]).values()
    return bool(np.allclose(sums, _LARGEST * _LARGEST * _WIDTH, rtol=1e-3))


def _hold_weights_in_float32(model: ov.Model) -> None:
    """Replace weights that are stored as int8, and widened in the graph, by their values."""
    for op in model.get_ordered_ops():
        if op.get_type_name() != "MatMul":
            continue
        scaled = op.input_value(1).get_node()
        if scaled.get_type_name() != "Multiply":
            continue
        widened, scale = (scaled.input_value(place).get_node() for place in (0, 1))
        if widened.get_type_name() != "Convert" or scale.get_type_name() != "Constant":
            continue
        stored = widened.input_value(0).get_node()
        if stored.get_type_name() == "Constant":
            values = stored.data.astype(np.float32) * scale.data
            op.input(1).replace_source_output(_ops.constant(values).output(0))
