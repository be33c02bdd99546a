"""Goes on from an earlier version's network, and knows what that one has learnt from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.transformer import NETWORK_FILE, TOKENISER_FILE, WEIGHTS_FILE
from training.data.dataset import Example
from training.data.partition import AUTHORED, Partition
from training.network.encoder import Network
from training.network.from_version import load_from_version

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """A version that a training goes on from."""

    name: str
    network: bytes
    weights: bytes
    tokeniser_json: str
    # Sources of which it has learnt, and whether it learnt what was kept for calibration and test.
    learnt: frozenset[str]
    learnt_all: bool

    def load(self) -> Network:
        """Return its network in torch, to be trained. Raise `ValueError` if it is not of ours."""
        network, _ = load_from_version(self.network, self.weights)
        # The fused kernel's way back takes a third of all time on a CPU.
        network.encoder.set_attn_implementation("eager")
        return network

    def never_learnt(self, examples: Sequence[Example], parts: Partition) -> BoolArray:
        """Return which comments it has learnt nothing of: neither them nor their source.

        Of authored ones these are the comments that `parts` kept for calibration and test.
        """
        kept = {e.comment.id for e in (*parts.calibration, *parts.test)}
        return np.array(
            [
                (not self.learnt_all and e.comment.id in kept)
                if e.source.startswith(AUTHORED)
                else e.source not in self.learnt
                for e in examples
            ],
            dtype=np.bool_,
        )


def read_warm_start(folder: Path) -> WarmStart:
    """Return the version in a folder. Its format may be one that no longer serves.

    Raise `ValueError` that names what is missing.
    """
    try:
        card = json.loads((folder / "card.json").read_bytes())
        parts = card["partition"]
        # A version with a rotation has learnt its parts for calibration and test too.
        learnt_all = "rotation" in card
        return WarmStart(
            name=str(card["version"]),
            network=(folder / NETWORK_FILE).read_bytes(),
            weights=(folder / WEIGHTS_FILE).read_bytes(),
            tokeniser_json=(folder / TOKENISER_FILE).read_text("utf-8"),
            learnt=frozenset(
                source
                for part in (parts if learnt_all else ("train",))
                if part != "dropped"
                for source in parts[part]["by_source"]
            ),
            learnt_all=learnt_all,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = (
            f"--warm-start {folder} is no version to go on from: it needs card.json, "
            f"{NETWORK_FILE}, {WEIGHTS_FILE} and {TOKENISER_FILE} ({error})"
        )
        raise ValueError(msg) from error
