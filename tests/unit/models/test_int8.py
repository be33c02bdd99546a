"""Sums of int8 products come out the same on every CPU."""

import numpy as np
import pytest

from models.int8 import prepare_for_cpu
from models.quiet_openvino import ov

_ops = ov.opset13
_core = ov.Core()
_WIDTH = 64


def _product(weights: np.ndarray) -> ov.Model:
    """Return a network of one product: rows rounded to whole numbers, times stored weights."""
    rows = _ops.parameter([16, _WIDTH], np.float32)
    low, high = np.float32(-128), np.float32(127)
    rounded = _ops.fake_quantize(rows, low, high, low, high, 256)
    stored = _ops.convert(_ops.constant(weights.astype(np.int8)), "f32")
    scaled = _ops.multiply(stored, _ops.constant(np.full((len(weights), 1), 0.5, np.float32)))
    return ov.Model(
        [_ops.matmul(rounded, scaled, transpose_a=False, transpose_b=True)], [rows], "product"
    )


def _run(model: ov.Model, rows: np.ndarray) -> np.ndarray:
    compiled = _core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return next(iter(compiled([rows.astype(np.float32)]).values()))


@pytest.mark.parametrize("largest", [3, 127])
def test_the_largest_weights_and_inputs_lose_nothing(largest):
    weights = np.full((_WIDTH, _WIDTH), largest)
    rows = np.full((16, _WIDTH), largest)
    model = _product(weights)

    prepare_for_cpu(_core, model)

    assert _run(model, rows) == pytest.approx(rows @ weights.T * 0.5, rel=1e-3)


def test_inputs_are_rounded_as_the_network_learnt():
    rng = np.random.default_rng(1)
    weights = rng.integers(-127, 128, (_WIDTH, _WIDTH))
    rows = rng.uniform(-200, 200, (16, _WIDTH))
    model = _product(weights)

    prepare_for_cpu(_core, model)

    expected = np.clip(np.rint(rows), -128, 127) @ weights.T * 0.5
    assert _run(model, rows) == pytest.approx(expected, rel=1e-3, abs=1.0)


def _look_up(table: np.ndarray, scale: np.ndarray) -> ov.Model:
    """Return a network that looks up rows of a stored table."""
    ids = _ops.parameter([1, -1], np.int64)
    widened = _ops.convert(_ops.constant(table.astype(np.int8)), "f32")
    scaled = _ops.multiply(widened, _ops.constant(scale.astype(np.float32)))
    return ov.Model([_ops.gather(scaled, ids, np.int64(0))], [ids], "look-up")


@pytest.mark.parametrize("scale_shape", [(40, 1), (1, 1)])
def test_rows_that_are_looked_up_keep_their_numbers(scale_shape):
    rng = np.random.default_rng(2)
    table, scale = rng.integers(-127, 128, (40, 8)), rng.uniform(0.001, 0.1, scale_shape)
    model = _look_up(table, scale)

    prepare_for_cpu(_core, model)

    ids = np.array([[3, 0, 39, 3]])
    (found,) = _core.compile_model(model, "CPU")([ids]).values()
    # Bit by bit: both multiply one number of float32 by another.
    expected = table.astype(np.float32) * scale.astype(np.float32)
    assert (found == expected[ids]).all()
