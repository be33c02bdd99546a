"""Gives a network that was exported one more output, without touching its weights."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from models.engine import POOLED

# Names that the export gives to the nodes needed (`training/network/encoder.py` traced by torch).
_STATES = "__module.encoder.encoder.layer.{}.output.LayerNorm/aten::layer_norm/Add"
_IS_TEXT = "aten::mul/Multiply_1"
_PROMOTION = "__module.promotion/aten::linear/Add"

# Which layer's states are pooled. Those after the last are spread along spam and ham alone; by
# the second the words of an advertisement still tell it from other advertisements.
LAYER = 1


def with_pooling(network: bytes, *, layer: int = LAYER) -> bytes:
    """Return `network.xml` with an output "pooled": shape (1, 1, hidden), float32.

    It is the sum of the text's hidden states after a layer, counted from 0, each times the token's
    probability of promotion. The file is edited as text, because OpenVINO would write the weights
    in another order: `network.bin` stays as it is. The sum is a product of matrices on purpose:
    OpenVINO computes what lies between the last such product and an output in float32, so any
    other output would change the precision, and with it the answers, of all the others.

    A network that has the output already is returned as it is. Raise `ValueError` for one that is
    not of our export.
    """
    root = ET.fromstring(network)  # noqa: S314  # a version's own file, checked by its checksum
    by_name = {node.get("name"): node for node in root.iter("layer")}
    edges = {
        (edge.get("to-layer"), edge.get("to-port")): (edge.get("from-layer"), edge.get("from-port"))
        for edge in root.iter("edge")
    }
    if POOLED in by_name:
        return network
    needed = (_STATES.format(layer), _IS_TEXT, _PROMOTION)
    missing = [name for name in needed if name not in by_name]
    if missing:
        msg = f"the network cannot be given the output {POOLED}, it lacks {', '.join(missing)}"
        raise ValueError(msg)
    states, product, promotion = (by_name[name] for name in needed)
    sources = {
        "promotion": (promotion.get("id"), "2"),
        "states": (states.get("id"), "2"),
        # The mask comes second into the product that the export makes of it.
        "is_text": edges[product.get("id"), "1"],
    }
    first = 1 + max(int(str(node.get("id"))) for node in by_name.values())
    hidden = [str(dim.text) for dim in states.iter("dim")][-1]
    text = network.decode("utf-8")
    text = text.replace("\t</layers>", f"{_layers(first, hidden)}\t</layers>", 1)
    return text.replace("\t</edges>", f"{_edges(first, sources)}\t</edges>", 1).encode("utf-8")


def _layers(first: int, hidden: str) -> str:
    """Return four layers: sigmoid, times the mask, the product with the states, the output."""
    tokens, states, answer = ("1", "-1", "1"), ("1", "-1", hidden), ("1", "1", hidden)
    return "".join(
        (
            _layer(first, "weight", "Sigmoid", "", (tokens,), tokens),
            _layer(
                first + 1,
                "weight_of_text",
                "Multiply",
                '<data auto_broadcast="numpy" />',
                (tokens, tokens),
                tokens,
            ),
            _layer(
                first + 2,
                "sum",
                "MatMul",
                '<data transpose_a="true" transpose_b="false" />',
                (tokens, states),
                answer,
            ),
            _result(first + 3, answer),
        )
    )


def _result(number: int, dims: Sequence[str]) -> str:
    return (
        f'\t\t<layer id="{number}" name="{POOLED}" type="Result" version="opset1" '
        f'output_names="{POOLED}">\n\t\t\t<input>\n{_port(0, dims)}\t\t\t</input>\n'
        "\t\t</layer>\n"
    )


def _layer(
    number: int,
    name: str,
    kind: str,
    data: str,
    inputs: Sequence[tuple[str, ...]],
    output: tuple[str, ...],
) -> str:
    ports = "".join(_port(n, dims) for n, dims in enumerate(inputs))
    names = f' names="{POOLED}"' if kind == "MatMul" else ""
    return (
        f'\t\t<layer id="{number}" name="{POOLED}/{name}" type="{kind}" version="opset1">\n'
        + (f"\t\t\t{data}\n" if data else "")
        + f"\t\t\t<input>\n{ports}\t\t\t</input>\n"
        f"\t\t\t<output>\n{_port(len(inputs), output, names)}\t\t\t</output>\n\t\t</layer>\n"
    )


def _port(number: int, dims: Sequence[str], names: str = "") -> str:
    inside = "".join(f"\t\t\t\t\t<dim>{dim}</dim>\n" for dim in dims)
    return f'\t\t\t\t<port id="{number}" precision="FP32"{names}>\n{inside}\t\t\t\t</port>\n'


def _edges(first: int, sources: Mapping[str, tuple[str | None, str | None]]) -> str:
    joined = (
        (*sources["promotion"], first, 0),
        (*sources["is_text"], first + 1, 0),
        (first, 1, first + 1, 1),
        (first + 1, 2, first + 2, 0),
        (*sources["states"], first + 2, 1),
        (first + 2, 2, first + 3, 0),
    )
    return "".join(
        f'\t\t<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}" />\n'
        for a, b, c, d in joined
    )
