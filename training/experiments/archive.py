"""Asks a version about an archive in torch, on a GPU where there is one; decides nothing.

Writes a line a comment: its id, `p_spam` with all evidence for a sender never seen before, and the
outcome at the version's cutoffs. What serves may say a little otherwise (`torch_engine.py`), so
this is for looking at years of comments, not for answering a site.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
import torch

from models.registry import FUSION_FILE, SHIPPED_DIR, check_version, read_current_name
from service.domain.comment import Comment
from service.domain.dataset_row import comment_from_row
from service.domain.errors import InvalidInputError, Problem
from service.domain.verdict import Outcome
from training.command import exit_code_of
from training.data.dataset import MAX_PROBLEMS, problems_of_row, read_rows
from training.experiments.torch_engine import torch_engine
from training.fit.members import Members, read_members
from training.retraining.weigh import files_of

# Sorted by length within so many, so that batches hold hardly any padding; some 100 MB of scores.
_BLOCK = 16_384
_OUTCOMES = (Outcome.HAM, Outcome.UNSURE, Outcome.SPAM)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.archive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", type=Path, nargs="+", help="comments, .jsonl or .jsonl.gz")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl that is not there yet")
    parser.add_argument("--version", type=Path, help="its folder; the current shipped one without")
    parser.add_argument("--device", help="cpu, cuda, cuda:1; a GPU where there is one without")
    options = parser.parse_args(arguments)
    return exit_code_of(lambda: _score_archive(options))


def _score_archive(options: argparse.Namespace) -> int:
    device = device_of(options.device)
    folder = options.version or SHIPPED_DIR / str(read_current_name(SHIPPED_DIR))
    check_version(folder)
    files = files_of(folder) | {FUSION_FILE: (folder / FUSION_FILE).read_bytes()}
    members = read_members(files, engine=torch_engine(files, device))
    problems: list[Problem] = []
    began, count = time.monotonic(), 0
    try:
        with options.out.open("x", encoding="utf-8") as out:
            for block in _blocks(_comments(options.files, problems)):
                _write(block, members, out)
                count += len(block)
                rate = count / (time.monotonic() - began)
                print(f"{count:,} comments, {rate:,.0f} a second", file=sys.stderr, flush=True)
    except FileExistsError as error:
        msg = f"{options.out} is there already: name another file with --out"
        raise ValueError(msg) from error
    # What could be read is written all the same.
    if problems:
        raise InvalidInputError(problems[:MAX_PROBLEMS])
    return 0


def device_of(name: str | None) -> torch.device:
    """Return the device of that name, a GPU if none is named and there is one.

    Raise `ValueError` for one that this machine does not have.
    """
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        msg = f"--device {name} cannot be used here: name another, or leave it out"
        raise ValueError(msg) from error
    return device


def _comments(files: Iterable[Path], problems: list[Problem]) -> Iterator[Comment]:
    for path in files:
        for where, row in read_rows(path, problems):
            wrong = problems_of_row(where, row)
            problems += wrong
            if not wrong:
                yield comment_from_row(row)


def _blocks(comments: Iterator[Comment]) -> Iterator[list[Comment]]:
    while block := list(islice(comments, _BLOCK)):
        yield block


def _write(block: Sequence[Comment], members: Members, out: TextIO) -> None:
    p_spam = members.judge(block)
    fusion = members.fusion
    places = np.digitize(p_spam, (fusion.ham_cutoff, fusion.spam_cutoff))
    for comment, p, place in zip(block, p_spam.tolist(), places.tolist(), strict=True):
        row = {"id": str(comment.id), "p_spam": round(p, 6), "outcome": _OUTCOMES[place].value}
        out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.exit(main())
