"""Rounds less in a network that was exported before: only what the encoder's matrices multiply.

Static int8 gives all the numbers that go into a product one scale. Before the heads these are the
text's mean beside its maximum, whose largest number is far larger than most, and nothing follows
that would average the error away: that rounding alone moved the log-odds of spam by 0.38, and by
0.49 more or less (standard deviation), all other roundings together by 0.03 (`models/README.md`).
Queries and keys were rounded, too, although attention multiplies floating point. Heads are small,
so leaving both alone costs hardly anything. `training.export` does so since.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models.engine import Engine
from models.linear import LinearTable
from models.registry import Fusion
from models.tokens import CommentTokeniser
from models.transformer import NETWORK_FILE, WEIGHTS_FILE, Calibration
from training.card import Measured
from training.dataset import Dataset
from training.export import HEADS
from training.from_version import load_from_version
from training.partition import Partition
from training.reading import FloatArray, read_inputs
from training.train import (
    WEIGHTS_ON_GRID,
    TrainConfig,
    calibrate_voice,
    comments_to_round,
    measure_rounding,
    voice_lessons,
)

_NEEDED = (
    "seed",
    "base",
    "voice_texts",
    "voice_calibration_texts",
    "int8_windows",
    "rounding_comments",
)
_SPAM = b'name="__module.spam/aten::linear/MatMul"'
_HEAD = re.compile(HEADS)


def with_less_rounding(network: bytes) -> bytes:
    """Return `network.xml` with no rounding but before the encoder's products; all weights stay.

    It belongs to the same `network.bin`. A network that rounds nothing else is returned as it is.
    Raise `ValueError` for one that is not of our export.
    """
    root = ET.fromstring(network)  # noqa: S314  # a version's own file, checked by its checksum
    layers, edges = root.find("layers"), root.find("edges")
    if (
        layers is None
        or edges is None
        or b'name="__module.spam/aten::linear/MatMul"' not in network
    ):
        raise ValueError("the network cannot be rounded less: it is not of our export")
    nodes = {str(node.get("id")): node for node in layers}
    changed = False
    for edge in list(edges):
        reader, source = nodes[str(edge.get("to-layer"))], nodes[str(edge.get("from-layer"))]
        if source.get("type") != "FakeQuantize" or _is_matrix_of_encoder(reader):
            continue
        before = _edge_into(edges, str(source.get("id")), "0")
        for end in ("from-layer", "from-port"):
            edge.set(end, str(before.get(end)))
        changed = True
    if not changed:
        return network
    _drop_unread(layers, edges)
    told: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return told


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


def config_of(card: Mapping[str, Any]) -> TrainConfig:
    """Return the settings that a version's network was trained by, as far as they matter here."""
    told = card["config"]
    return replace(TrainConfig(), **{key: told[key] for key in _NEEDED if key in told})


def voice_of(
    engine: Engine,
    dataset: Dataset,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
    config: TrainConfig,
) -> tuple[tuple[float, float], Measured | None]:
    """Return slope and offset of the network's head for LLM voice, and what it is worth.

    From the texts that `training.train` takes for it, which the network was not taught with.
    """
    lessons = voice_lessons(dataset, config)[config.voice_texts :]
    read = read_inputs([one.input for one in lessons], engine, tokeniser, linear)
    return calibrate_voice(lessons, read.voice, config)


def rounding_of(
    files: Mapping[str, bytes],
    parts: Partition,
    p_spam: FloatArray,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
    calibration: Calibration,
    fusion: Fusion,
    config: TrainConfig,
) -> Measured:
    """Return what rounding changes about a version, against its own weights in float32.

    `p_spam` is what the version says of the test part; what its network was before the weights
    were rounded no version tells.
    """
    network, _ = load_from_version(files[NETWORK_FILE], files[WEIGHTS_FILE], base=config.base)
    _, some = comments_to_round(parts, config)
    return measure_rounding(
        network,
        [parts.test[i] for i in some],
        p_spam[some],
        tokeniser,
        linear,
        calibration,
        fusion,
        against=WEIGHTS_ON_GRID,
    )
