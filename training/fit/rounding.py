"""Measures how rounding a network to int8 changes verdicts."""

import tempfile
from pathlib import Path

import numpy as np

from models.engine import Engine, Rest
from models.registry import Fusion
from models.transformer import NETWORK_FILE, REST_FILE
from service.scoring.metrics import roc_auc
from training.arrays import BoolArray, FloatArray
from training.fit.measured import Measured
from training.network.encoder import Network
from training.network.export import export_network


def draw_to_compare(count: int, most: int, seed: int) -> list[int]:
    """Return at most `most` of `count` positions, drawn by the seed, in order."""
    return sorted(np.random.default_rng(seed).permutation(count)[:most].tolist())


def network_reader(
    network: Network, open_log_odds: tuple[float, float], *, exact: bool = False
) -> Engine:
    """Return an engine with a network that is not rounded.

    It computes in bfloat16 if the CPU can; with `exact` in float32.
    """
    above, below = open_log_odds
    with tempfile.TemporaryDirectory() as folder:
        export_network(network, Path(folder), short=False)
        rest = Path(folder, REST_FILE)
        return Engine(
            Path(folder, NETWORK_FILE),
            rest=Rest(network=rest, above=above, below=below) if rest.exists() else None,
            exact=exact,
        )


def compare_rounding(
    before: FloatArray, after: FloatArray, is_spam: BoolArray, fusion: Fusion
) -> Measured:
    """Return the changes from rounding, given p_spam of the same comments before and after."""
    cutoffs = (fusion.ham_cutoff, fusion.spam_cutoff)
    moved = np.abs(np.digitize(before, cutoffs) - np.digitize(after, cutoffs))
    return {
        "n": len(before),
        "outcomes_changed": int((moved > 0).sum()),
        "ham_to_spam_or_back": int((moved == 2).sum()),
        "largest_change_of_p_spam": float(np.abs(before - after).max()),
        "mean_change_of_p_spam": float(np.abs(before - after).mean()),
        "roc_auc_before": roc_auc(is_spam, before),
        "roc_auc_after": roc_auc(is_spam, after),
    }
