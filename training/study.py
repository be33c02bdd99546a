"""Compares ways to learn without looking at the test part, and says in a table what they came to.

`lora`: the network fine-tuned wholly, and by low-rank adaptation, for as many steps.
`sources`: whole sources left out in turn, so that a figure does not hang on five blogs.

Both train short runs of the layers that serve, from the base, one seed each: they compare, and say
nothing of the shipped version, which learns far longer.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from models.tokens import CommentTokeniser
from training.card import Measured, measure
from training.card_page import FIGURES_HEAD, figures_row, table
from training.command import exit_code_of
from training.corrections import LABEL_CORRECTIONS
from training.dataset import DEFAULT_DATA, Dataset, Example, read_dataset
from training.finetune import FineTuneConfig, fine_tune
from training.fuse import fit_logistic
from training.joining import fit_linear
from training.lessons import lesson_of
from training.low_rank import adapt, merge
from training.network import Network, load_network, read_tokeniser
from training.partition import AUTHORED, CALIBRATION_SOURCES, TEST_SOURCES, Partition, partition
from training.reading import labels, logistic_of
from training.rounding import measure_unrounded, read_unrounded
from training.tfidf import TfidfFilter
from training.train import TrainConfig, tell_progress

# Each has ham and spam of its own; together they are all public sources but those tested on.
FOLDS: Mapping[str, frozenset[str]] = {
    "web development": frozenset({"hendrixjoseph", "alamantus", "hcuk94"}),
    "science": frozenset({"lemire", "goparker", "einsteinpy"}),
    "products and tools": frozenset({"stackblog", "mmistakes", "datacamp", "billjr99"}),
    "videos, mobile": frozenset({"youtube", "chrisrisner"}),
    "small blogs": frozenset({"bloggerbust", "eduardoboucas", "hajekj"}),
}
RANKS = (8, 32)
# Thin matrices learn several times slower at the rate that suits whole ones.
_LOW_RANK_RATE = 1e-3


def main(arguments: Sequence[str] | None = None, config: TrainConfig | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m training.study",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("lora", "sources"), help="what to compare")
    parser.add_argument(
        "--data", type=Path, nargs="+", default=[], help="data beside the repository's"
    )
    parser.add_argument("--epochs", type=float, default=0.5, help="how long each run learns")
    parser.add_argument("--out", type=Path, help="a Markdown file; standard output without")
    options = parser.parse_args(arguments)
    return exit_code_of(lambda: _run(options, config or TrainConfig()))


def _run(options: argparse.Namespace, config: TrainConfig) -> int:
    config = replace(config, fine_tune=replace(config.fine_tune, epochs=options.epochs))
    dataset = read_dataset([DEFAULT_DATA, *options.data], corrections=LABEL_CORRECTIONS)
    compare = compare_lora if options.what == "lora" else leave_sources_out
    page = compare(dataset, config) + "\n"
    if options.out:
        options.out.write_text(page, "utf-8")
    else:
        sys.stdout.write(page)
    return 0


def compare_lora(dataset: Dataset, config: TrainConfig) -> str:
    """Return a table of fine-tuning and low-rank adaptations, measured on the calibration part."""
    parts = partition(dataset, seed=config.seed)
    tokeniser = CommentTokeniser(read_tokeniser(config.base))
    linear = fit_linear(parts.train, config.join)
    rows = []
    for rank in (None, *RANKS):
        tuning = config.fine_tune
        if rank is not None:
            tuning = replace(tuning, learning_rate=_LOW_RANK_RATE)
        network, learning, seconds = _learn(parts.train, tokeniser, config, tuning, rank=rank)
        found = measure_unrounded(network, parts.calibration, tokeniser, linear)
        name = "all weights" if rank is None else f"rank {rank}"
        rows.append([name, f"{learning:,}", f"{seconds:.0f}", *figures_row(found)])
    head = ("what learns", "numbers", "seconds", *FIGURES_HEAD[1:])
    return table(head, rows)


def leave_sources_out(dataset: Dataset, config: TrainConfig) -> str:
    """Return a table with a row for each way of judging on each fold of sources left out whole.

    The sources that versions are tested on are left out of everything. What joins both members
    is fitted on comments of other sources that neither learnt from.
    """
    known = replace(
        dataset, examples=tuple(e for e in dataset.examples if e.source not in TEST_SOURCES)
    )
    tokeniser = CommentTokeniser(read_tokeniser(config.base))
    rows = []
    for name, sources in FOLDS.items():
        parts = partition(
            known,
            seed=config.seed,
            test_sources=sources,
            calibration_sources=CALIBRATION_SOURCES - sources,
        )
        held = [e for e in parts.test if not e.source.startswith(AUTHORED)]
        if len(set(labels(held).tolist())) < 2:  # spam and ham
            continue
        found = _judge_held(parts, held, tokeniser, config)
        rows += [[name, way, *figures_row(one)] for way, one in found.items()]
    if not rows:
        msg = f"the data hold none of the sources to leave out ({_named()}): name them with --data"
        raise ValueError(msg)
    return table(("left out", "judged by", *FIGURES_HEAD[1:]), rows)


def _named() -> str:
    return ", ".join(sorted(source for sources in FOLDS.values() for source in sources))


def _judge_held(
    parts: Partition, held: Sequence[Example], tokeniser: CommentTokeniser, config: TrainConfig
) -> dict[str, Measured]:
    linear = fit_linear(parts.train, config.join)
    network, _, _ = _learn(parts.train, tokeniser, config, config.fine_tune)
    read, read_held = (
        read_unrounded(network, [e.input for e in some], tokeniser, linear)
        for some in (parts.calibration, held)
    )
    _, (a, b) = fit_logistic(
        np.column_stack([read.network, read.linear]), labels(parts.calibration)
    )
    scores = {
        "network": read_held.network,
        "linear member": read_held.linear,
        "both": a * read_held.network + b * read_held.linear,
        "TF-IDF": TfidfFilter(parts.train, parts.calibration).log_odds(held),
    }
    return {way: measure(labels(held), logistic_of(sums)) for way, sums in scores.items()}


def _learn(
    train: Sequence[Example],
    tokeniser: CommentTokeniser,
    config: TrainConfig,
    tuning: FineTuneConfig,
    *,
    rank: int | None = None,
) -> tuple[Network, int, float]:
    """Return a fresh network that learnt these, how many numbers did, and the seconds it took."""
    torch.manual_seed(config.seed)
    network = load_network(config.base, layers=config.layers)
    if rank is not None:
        adapt(network, rank=rank)
    learning = sum(p.numel() for p in network.parameters() if p.requires_grad)
    began = time.monotonic()
    fine_tune(
        network,
        tokeniser,
        [lesson_of(e) for e in train],
        tuning,
        seed=config.seed,
        tell=partial(tell_progress, "all weights" if rank is None else f"rank {rank}"),
    )
    seconds = time.monotonic() - began
    merge(network)
    return network, learning, seconds


if __name__ == "__main__":
    sys.exit(main())
