"""Fine-tunes a small network as one of several processes; writes what each ends with.

torchrun --nproc-per-node 2 tune_in_ranks.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from models.tokens import CommentTokeniser
from tests.unit.training.test_finetune import digest, make_config, make_lessons, make_network, tune
from training.network import PACKAGED_BASE, read_tokeniser
from training.ranks import joined


def answers(network, tokeniser) -> list[float]:
    """Return what the network says of each lesson, in log-odds for spam."""
    said = []
    for lesson in make_lessons():
        window = tokeniser.windows(lesson.input)[0]
        ids = torch.tensor([window.ids])
        kinds = torch.zeros_like(ids)
        kinds[0, window.n_context :] = 1
        with torch.no_grad():
            said.append(float(network(ids, kinds, torch.ones_like(ids))[0]))
    return said


def main() -> None:
    """Run one process."""
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    tokeniser = CommentTokeniser(read_tokeniser(PACKAGED_BASE))
    with joined() as ranks:
        network = tune(
            make_network(),
            tokeniser,
            config=make_config(dropout=False, batch_size=5),
            checkpoint=folder / "run.pt",
            ranks=ranks,
        )
    told = {"weights": digest(network), "answers": answers(network, tokeniser)}
    (folder / f"{ranks.rank}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
