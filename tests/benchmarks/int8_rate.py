"""Counts a network's int8 multiply-adds and runs its matrix products alone: the engine's floor."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from models.quiet_openvino import ov

# Long enough that loading the weights and starting a product no longer count.
LONG_TOKENS = 1_024
# A head answers one number a token: no matrix worth counting.
_NARROWEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a network computes for a token: `matrices` are (inputs, outputs) of int8 weights.

    `attention_width` is the hidden size of each layer's attention, which multiplies floats.
    """

    matrices: tuple[tuple[int, int], ...]
    attention_width: tuple[int, ...]

    def int8_per_token(self) -> int:
        """Return the multiply-adds with int8 weights that one token needs."""
        return sum(inputs * outputs for inputs, outputs in self.matrices)

    def attention_of(self, tokens: int) -> int:
        """Return the multiply-adds of the attention of one window, in floating point."""
        return sum(2 * tokens * tokens * width for width in self.attention_width)


def read_shape(network: Path) -> Shape:
    """Return what the graph in `network.xml` computes, in the order of its layers."""
    matrices, widths = [], []
    for op in ov.Core().read_model(network).get_ordered_ops():
        kind = op.get_type_name()
        if kind == "ScaledDotProductAttention":
            heads, each = (op.get_input_partial_shape(0)[axis].get_length() for axis in (1, 3))
            widths.append(heads * each)
        elif kind == "MatMul" and _stored_as(op) in {"i8", "u8"}:
            outputs, inputs = tuple(op.get_input_shape(1))
            if outputs >= _NARROWEST:
                matrices.append((inputs, outputs))
    return Shape(matrices=tuple(matrices), attention_width=tuple(widths))


def _stored_as(matmul: Any) -> str:
    """Return the type in which a product's weights are stored, "" if they are no constant."""
    node = matmul.input_value(1).get_node()
    while node.get_type_name() in {"Multiply", "Subtract", "Convert", "Reshape"}:
        node = node.input_value(0).get_node()
    return node.get_element_type().get_type_name() if node.get_type_name() == "Constant" else ""


class MatrixProducts:
    """A network's int8 products, one after the other, with nothing between them.

    No attention, no normalisation, no activation function: what is left is the arithmetic that
    no engine can save, at the rate that OpenVINO reaches on this machine. Streams and threads are
    those of `models.engine.Engine`.
    """

    def __init__(self, shape: Shape) -> None:
        """Raise `ValueError` if the products do not feed each other, as an encoder's do."""
        if not shape.matrices or any(a[1] != b[0] for a, b in pairwise(shape.matrices)):
            msg = "the network's matrices are no chain: its floor is not measured"
            raise ValueError(msg)
        at_once = len(os.sched_getaffinity(0))
        model = _chain(shape.matrices)
        compiled = ov.Core().compile_model(
            model,
            "CPU",
            {
                "NUM_STREAMS": str(at_once),
                "INFERENCE_NUM_THREADS": str(at_once),
                "ENABLE_CPU_PINNING": "NO",
            },
        )
        self._shape = shape
        self._at_once = at_once
        self._queue = ov.AsyncInferQueue(compiled, at_once)
        self.kernels = _kernels(model, shape.matrices[0][0])

    def run(self, lengths: Sequence[int]) -> None:
        """Do the products for windows of these lengths in tokens, longest first."""
        width = self._shape.matrices[0][0]
        for length in sorted(lengths, reverse=True):
            self._queue.start_async({"states": np.ones((1, length, width), dtype=np.float32)})
        self._queue.wait_all()

    def best_rate(self) -> float:
        """Return int8 multiply-adds a second on long inputs, all cores busy."""
        lengths = [LONG_TOKENS] * 8 * self._at_once
        self.run(lengths[: self._at_once])
        started = time.perf_counter()
        self.run(lengths)
        return sum(lengths) * self._shape.int8_per_token() / (time.perf_counter() - started)


def _chain(matrices: Sequence[tuple[int, int]]) -> Any:
    """Return a graph of the products with static ranges, written the way NNCF writes them."""
    ops = ov.opset13
    rng = np.random.default_rng(7)
    states = ops.parameter([1, -1, matrices[0][0]], np.float32, name="states")
    states.output(0).set_names({"states"})
    node = states
    for inputs, outputs in matrices:
        low, high = np.float32(-4.0), np.float32(4.0 * 127 / 128)
        rounded = ops.fake_quantize(node, low, high, low, high, 256)
        stored = ops.constant(rng.integers(-127, 128, (outputs, inputs), dtype=np.int8))
        scale = ops.constant(np.full((outputs, 1), 1e-3, dtype=np.float32))
        weights = ops.multiply(ops.convert(stored, "f32"), scale)
        node = ops.matmul(rounded, weights, transpose_a=False, transpose_b=True)
    return ov.Model([ops.result(node)], [states], "products")


def _kernels(model: Any, width: int) -> tuple[str, ...]:
    """Return which kernels run the products, so that nobody takes floats for int8.

    Known only after a run with counters, which slow it: so it has a compilation of its own.
    """
    request = ov.Core().compile_model(model, "CPU", {"PERF_COUNT": "YES"}).create_infer_request()
    request.infer({"states": np.ones((1, 64, width), dtype=np.float32)})
    ran = (one for one in request.profiling_info if one.node_type.startswith("FullyConnected"))
    return tuple(sorted({one.exec_type for one in ran}))
