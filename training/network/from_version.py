"""Reads a version's served network into torch, and writes what was learnt back into the same graph.

A version holds no torch weights, only the OpenVINO graph that serves: matrices in int8 with a
scale a row, their columns divided by what the export moved into the activations before them
(SmoothQuant, Xiao et al. 2023). Each weight is found by the name that the trace of
`training.network.encoder` gave its node. Weights that nothing changed are written back byte for
byte, so a candidate differs from the current version by what was learnt and by no rounding.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.utils import parametrize

from training.network.encoder import Network
from training.network.packaged_e5 import empty_encoder

FloatArray = npt.NDArray[np.float32]

_TYPES = {"i8": np.int8, "f16": np.float16, "f32": np.float32}
# The largest whole number in int8; the smallest, -128, is not used (symmetric ranges).
_MOST = 127
_LAYER = re.compile(r"__module\.encoder\.encoder\.layer\.(\d+)\.")
# Where each kind of module keeps a parameter: the node behind its name, and that node's input.
_LINEAR, _BIAS = ("/aten::linear/MatMul", 1), ("/aten::linear/Add", 1)
_GAIN, _SHIFT = ("/aten::layer_norm/Multiply_1", 1), ("/aten::layer_norm/Add", 1)
_EMBEDDING = ("/aten::embedding/Gather", 0)
_WORDS = "encoder.embeddings.word_embeddings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the graph keeps one parameter: its segment of `network.bin`, and what int8 stands for.

    The parameter is `stored x step`; `step` broadcasts to `shape` and is 1 for what is no int8.
    """

    offset: int
    shape: tuple[int, ...]
    kind: str
    step: FloatArray


def find_places(network: bytes, weights: bytes, names: Mapping[str, nn.Module]) -> dict[str, Place]:
    """Return where each parameter of the named modules lies in `network.xml` and `network.bin`.

    Raise `ValueError` that names every parameter that the graph does not have.
    """
    graph = _Graph(network, weights)
    found: dict[str, Place] = {}
    missing: list[str] = []
    for module, one in names.items():
        for parameter, (ending, port) in _parameters_of(one).items():
            place = graph.place(f"__module.{module}{ending}", port)
            if place is None:
                missing.append(f"{module}.{parameter}")
            else:
                found[f"{module}.{parameter}"] = place
    if missing:
        msg = f"the network cannot be fine-tuned, its graph lacks {', '.join(missing)}"
        raise ValueError(msg)
    return found


def _parameters_of(module: nn.Module) -> dict[str, tuple[str, int]]:
    if isinstance(module, nn.Linear):
        return {"weight": _LINEAR, "bias": _BIAS}
    if isinstance(module, nn.LayerNorm):
        return {"weight": _GAIN, "bias": _SHIFT}
    return {"weight": _EMBEDDING}


def load_from_version(network: bytes, weights: bytes) -> tuple[Network, Served]:
    """Return a version's network in torch, and what writes it back.

    Raise `ValueError` for a graph that is not of our export, or of another shape than the encoders
    that packages carry.
    """
    layers = {int(m[1]) for m in _LAYER.finditer(network.decode("utf-8"))}
    words = _Graph(network, weights).place(f"__module.{_WORDS}{_EMBEDDING[0]}", _EMBEDDING[1])
    if not layers or words is None:
        raise ValueError("the network cannot be fine-tuned: its graph has no layers of our export")
    encoder = empty_encoder(vocabulary=words.shape[0], layers=max(layers) + 1)
    made = Network(encoder, hidden=encoder.config.hidden_size)
    modules = {
        name: one
        for name, one in made.named_modules()
        if isinstance(one, nn.Linear | nn.LayerNorm | nn.Embedding)
    }
    places = find_places(network, weights, modules)
    parameters = dict(made.named_parameters())
    # Every number of the network comes from the graph, or what is fine-tuned is another network.
    wrong = sorted(
        name
        for name in parameters.keys() | places.keys()
        if name not in places
        or name not in parameters
        or prod(places[name].shape) != parameters[name].numel()
    )
    if wrong:
        msg = f"the network has another shape than ours: {', '.join(wrong)}"
        raise ValueError(msg)
    with torch.no_grad():
        for name, parameter in parameters.items():
            values = stored_values(weights, places[name])
            parameter.copy_(torch.from_numpy(values.reshape(tuple(parameter.shape))))
    return made.eval(), Served(network=network, weights=weights, places=places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The graph that a network came from."""

    network: bytes
    weights: bytes
    places: dict[str, Place]

    def fake_quantise(self, network: Network) -> None:
        """Make the network compute with the weights that int8 would serve, while it is trained.

        The gradient passes the rounding as if it were not there (straight-through estimator,
        Bengio et al. 2013): small steps add up until they tip a weight to the next whole number,
        where rounding after training would lose them all.
        """
        for name, one in network.named_modules():
            if isinstance(one, nn.Linear) and self.places[f"{name}.weight"].kind == "i8":
                step = self.places[f"{name}.weight"].step
                parametrize.register_parametrization(one, "weight", _OnGrid(step))

    def write(self, network: Network) -> tuple[bytes, bytes]:
        """Return `network.xml` and `network.bin` with the network's weights in the same places.

        The network may be on the grid still. Ranges of activations stay those of the graph.
        """
        content = bytearray(self.weights)
        state = network.state_dict()
        for name, place in self.places.items():
            quantised = name.removesuffix("weight") + "parametrizations.weight.original"
            values = state[quantised if quantised in state else name]
            stored = _as_stored(values.detach().cpu().float().numpy(), place).tobytes()
            content[place.offset : place.offset + len(stored)] = stored
        return self.network, bytes(content)


class _OnGrid(nn.Module):
    """Rounds a matrix to whole steps, as int8 would keep it."""

    def __init__(self, step: FloatArray) -> None:
        super().__init__()
        self.step: torch.Tensor
        self.register_buffer("step", torch.from_numpy(step.copy()), persistent=False)

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """Return the matrix on the grid; its gradient is the given one's."""
        rounded = torch.clamp(torch.round(weight / self.step), -_MOST, _MOST) * self.step
        return weight + (rounded - weight).detach()


def _stored(weights: bytes, place: Place) -> npt.NDArray[np.generic]:
    dtype, count = _TYPES[place.kind], prod(place.shape)
    return np.frombuffer(weights, dtype, count=count, offset=place.offset).reshape(place.shape)


def stored_values(weights: bytes, place: Place) -> FloatArray:
    """Return a parameter's values in float32, in the shape in which the file keeps it."""
    values: FloatArray = _stored(weights, place).astype(np.float32) * place.step
    return values


def _as_stored(values: FloatArray, place: Place) -> npt.NDArray[np.generic]:
    """Return a parameter as the file keeps it."""
    shaped = values.reshape(place.shape)
    if place.kind != "i8":
        return shaped.astype(_TYPES[place.kind])
    return np.clip(np.round(shaped / place.step), -_MOST, _MOST).astype(np.int8)


class _Graph:
    """The layers of a `network.xml` and what feeds them."""

    def __init__(self, network: bytes, weights: bytes) -> None:
        root = ET.fromstring(network)  # noqa: S314  # a version's own file, checked by its checksum
        self._weights = weights
        self._nodes = {str(node.get("id")): node for node in root.iter("layer")}
        self._by_name = {node.get("name"): node for node in root.iter("layer")}
        self._sources = {
            (edge.get("to-layer"), edge.get("to-port")): str(edge.get("from-layer"))
            for edge in root.iter("edge")
        }

    def place(self, name: str, port: int) -> Place | None:
        """Return where the constant behind a node's input lies, None if there is none."""
        node = self._by_name.get(name)
        if node is None:
            return None
        place = self._constant(self._before(node, port))
        if place is None or node.get("type") != "MatMul":
            return place
        smoothing = self._smoothing(self._before(node, 1 - port))
        if smoothing is None:
            return place
        # The activations were multiplied by this, the columns divided by it.
        step = np.ascontiguousarray(np.broadcast_to(place.step * smoothing, place.shape))
        return Place(offset=place.offset, shape=place.shape, kind=place.kind, step=step)

    def _before(self, node: ET.Element, port: int) -> ET.Element | None:
        return self._nodes.get(self._sources.get((node.get("id"), str(port)), ""))

    def _constant(self, node: ET.Element | None) -> Place | None:
        """Return the constant that a node is or rescales."""
        if node is None:
            return None
        if node.get("type") == "Convert":
            return self._constant(self._before(node, 0))
        if node.get("type") == "Multiply":
            scale = self._constant(self._before(node, 1))
            place = self._constant(self._before(node, 0))
            if place is None or scale is None:
                return None
            step = _stored(self._weights, scale).astype(np.float32)
            return Place(offset=place.offset, shape=place.shape, kind=place.kind, step=step)
        data = node.find("data")
        if node.get("type") != "Const" or data is None or data.get("element_type") not in _TYPES:
            return None
        return Place(
            offset=int(str(data.get("offset"))),
            shape=tuple(int(n) for n in str(data.get("shape")).split(",") if n.strip()),
            kind=str(data.get("element_type")),
            step=np.ones(1, dtype=np.float32),
        )

    def _smoothing(self, node: ET.Element | None) -> FloatArray | None:
        """Return what activations are multiplied by before they are rounded, None for nothing."""
        if node is None or node.get("type") != "FakeQuantize":
            return None
        while node is not None and node.get("type") == "FakeQuantize":
            node = self._before(node, 0)
        if node is None or node.get("type") != "Multiply":
            return None
        scale = self._constant(self._before(node, 1))
        if scale is None:
            return None
        values: FloatArray = _stored(self._weights, scale).astype(np.float32).reshape(1, -1)
        return values
