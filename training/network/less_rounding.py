"""Leaves only what the encoder's matrices multiply rounded to int8 in an exported network.

Static int8 gives all the numbers that go into a product one scale. Before the heads these are the
text's mean beside its maximum, whose largest number is far larger than most, and nothing follows
that would average the error away: that rounding alone moved the log-odds of spam by 0.38, and by
0.49 more or less (standard deviation), all other roundings together by 0.03 (`models/decisions/`).
Queries and keys were rounded, too, although attention multiplies floating point. Heads are small,
so leaving both alone costs nothing that was measured. New exports end here, too.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from math import prod

from torch import nn

from training.network.from_version import SMOOTHING, find_places, stored_values

HEADS = ("spam", "promotion", "llm_voice")
# The names of their nodes in the graph.
HEADS_NODES = rf"__module\.({'|'.join(HEADS)})/.*"
_SPAM = b'name="__module.spam/aten::linear/MatMul"'
_HEAD = re.compile(HEADS_NODES)


def with_less_rounding(network: bytes, weights: bytes) -> tuple[bytes, bytes]:
    """Return `network.xml` and `network.bin` with no rounding but before the encoder's products.

    All weights keep their values. Those of the heads, where they are int8 or made up for a scale of
    what is rounded, become float32 at the end of the file: with its input in bfloat16 and weights
    in int8 OpenVINO 2026.4 left the scale out of the head for promotion. A network with nothing to
    change is returned as it is. Raise `ValueError` for one that is not of our export.
    """
    root = ET.fromstring(network)  # noqa: S314  # a version's own file, checked by its checksum
    layers, edges = root.find("layers"), root.find("edges")
    if layers is None or edges is None or _SPAM not in network:
        raise ValueError("the network cannot be rounded less: it is not of our export")
    nodes = {str(node.get("id")): node for node in layers}
    changed = _bypass_rounding(nodes, edges)
    places = find_places(network, weights, {name: nn.Linear(1, 1) for name in HEADS})
    for head in HEADS:
        place = places[f"{head}.weight"]
        product = _product_of(head, layers)
        if place.kind == "i8" or _is_smoothed(product, nodes, edges):
            number = max(int(one) for one in nodes) + 1
            values = stored_values(weights, place)
            added = _constant(number, values.shape, offset=len(weights))
            layers.insert(0, added)
            nodes[str(number)] = added
            weights += values.tobytes()
            _feed(product, str(number), nodes, edges)
            changed = True
    if not changed:
        return network, weights
    _drop_unread(layers, edges)
    told: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return told, weights


def _bypass_rounding(nodes: Mapping[str, ET.Element], edges: ET.Element) -> bool:
    """Let all but the encoder's products read what is not rounded; say whether any did not."""
    changed = False
    for edge in list(edges):
        reader, source = nodes[str(edge.get("to-layer"))], nodes[str(edge.get("from-layer"))]
        if source.get("type") == "FakeQuantize" and not _is_matrix_of_encoder(reader):
            _read_what_it_reads(edge, source, edges)
            changed = True
    return changed


def _product_of(head: str, layers: ET.Element) -> ET.Element:
    name = f"__module.{head}/aten::linear/MatMul"
    return next(node for node in layers if node.get("name") == name)


def _is_smoothed(product: ET.Element, nodes: Mapping[str, ET.Element], edges: ET.Element) -> bool:
    """Say whether what a product reads was scaled to be rounded."""
    read = _edge_into(edges, str(product.get("id")), "0")
    return str(nodes[str(read.get("from-layer"))].get("name")).endswith(SMOOTHING)


def _feed(
    product: ET.Element, weights: str, nodes: Mapping[str, ET.Element], edges: ET.Element
) -> None:
    """Let a head's product read these weights, and its input as it was before it was scaled."""
    if _is_smoothed(product, nodes, edges):
        read = _edge_into(edges, str(product.get("id")), "0")
        _read_what_it_reads(read, nodes[str(read.get("from-layer"))], edges)
    by = _edge_into(edges, str(product.get("id")), "1")
    by.set("from-layer", weights)
    by.set("from-port", "0")


def _read_what_it_reads(edge: ET.Element, source: ET.Element, edges: ET.Element) -> None:
    before = _edge_into(edges, str(source.get("id")), "0")
    for end in ("from-layer", "from-port"):
        edge.set(end, str(before.get(end)))


def _constant(number: int, shape: tuple[int, ...], *, offset: int) -> ET.Element:
    size = 4 * prod(shape)
    dims = "".join(f"<dim>{dim}</dim>" for dim in shape)
    told = ", ".join(str(dim) for dim in shape)
    return ET.fromstring(  # noqa: S314  # written here
        f'<layer id="{number}" name="head_weight_{number}" type="Const" version="opset1">'
        f'<data element_type="f32" shape="{told}" offset="{offset}" size="{size}" />'
        f'<output><port id="0" precision="FP32">{dims}</port></output></layer>'
    )


def _is_matrix_of_encoder(node: ET.Element) -> bool:
    return node.get("type") == "MatMul" and not _HEAD.fullmatch(str(node.get("name")))


def _edge_into(edges: ET.Element, layer: str, port: str) -> ET.Element:
    return next(e for e in edges if (e.get("to-layer"), e.get("to-port")) == (layer, port))


def _drop_unread(layers: ET.Element, edges: ET.Element) -> None:
    """Drop the layers that nothing reads any more, the constants of dropped ones too."""
    while True:
        read = {edge.get("from-layer") for edge in edges}
        unread = [n for n in layers if n.get("type") != "Result" and n.get("id") not in read]
        if not unread:
            return
        gone = {node.get("id") for node in unread}
        for node in unread:
            layers.remove(node)
        for edge in [e for e in edges if e.get("to-layer") in gone]:
            edges.remove(edge)
