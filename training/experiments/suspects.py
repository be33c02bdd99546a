"""Lists comments whose label a model doubts that never saw them, for a person to read.

Confident learning (Northcutt, Jiang, Chuang 2021, "Confident Learning: Estimating Uncertainty in
Dataset Labels", JAIR 70): a comment is suspect if it is at least as probable under the other
label as comments of that label are on average.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.features import count_features
from service.domain.errors import InvalidInputError
from service.scoring.conclude import logistic
from training.baseline import BaselineConfig
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import Example, read_dataset
from training.data.partition import AUTHORED, partition
from training.data.split import assign_folds, group_examples
from training.fit.evidence import to_matrix
from training.fit.regression import fit_table

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Enough of a comment to judge most by, little enough to read hundreds.
_SHOWN_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """One comment whose label is doubted; `p_label` is the probability of the label it has."""

    example: Example
    p_label: float


def find_suspects(examples: Sequence[Example], config: BaselineConfig) -> list[Suspect]:
    """Return the comments whose label is doubted, the most doubtful first.

    Each probability comes from a linear model that saw no comment of the same group (post,
    campaign, copies). Raise `ValueError` with one label alone or fewer groups than folds.
    """
    is_spam = np.array([example.is_spam for example in examples], dtype=np.bool_)
    p_spam = _p_spam_out_of_fold(examples, is_spam, config)
    doubted = confident_disagreement(is_spam, p_spam)
    p_label = np.where(is_spam, p_spam, 1 - p_spam)
    suspects = [
        Suspect(example=examples[i], p_label=float(p_label[i]))
        for i in np.flatnonzero(doubted).tolist()
    ]
    return sorted(suspects, key=lambda suspect: (suspect.p_label, suspect.example.comment.id))


def confident_disagreement(is_spam: BoolArray, p_spam: FloatArray) -> BoolArray:
    """Return which labels confident learning calls wrong.

    The threshold of a class is the mean probability of that class among the comments labelled so.
    A comment counts as a class whose threshold it reaches, the more probable one if it reaches
    both, and is doubted if that is not its label.
    """
    reaches_spam = p_spam >= p_spam[is_spam].mean()
    reaches_ham = 1 - p_spam >= (1 - p_spam[~is_spam]).mean()
    looks_spam = reaches_spam & (~reaches_ham | (p_spam > 0.5))
    looks_ham = reaches_ham & (~reaches_spam | (p_spam < 0.5))
    doubted: BoolArray = np.where(is_spam, looks_ham, looks_spam)
    return doubted


def _p_spam_out_of_fold(
    examples: Sequence[Example], is_spam: BoolArray, config: BaselineConfig
) -> FloatArray:
    vectors = [count_features(example.input) for example in examples]
    matrix = to_matrix(vectors)
    folds = assign_folds(group_examples(examples), n_folds=config.n_folds, seed=config.seed)
    p_spam = np.zeros(len(examples))
    for fold in range(config.n_folds):
        rest = folds != fold
        n_spam = int(is_spam[rest].sum())
        if n_spam in (0, rest.sum()):
            msg = f"a model needs spam and ham, got {n_spam} spam among {rest.sum()} comments"
            raise ValueError(msg)
        table = fit_table(
            matrix[rest],
            is_spam[rest],
            inverse_ridge=config.inverse_ridge,
            min_rows=config.min_comments,
            seed=config.seed,
        )
        for i in np.flatnonzero(folds == fold).tolist():
            p_spam[i] = logistic(table.sum_of(vectors[i]))
    return p_spam


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    config = BaselineConfig()
    try:
        dataset = read_dataset(options.data, corrections=options.corrections)
        parts = partition(dataset, seed=config.seed)
        # Never of the test part: whoever looks at it or changes it cannot measure on it any more.
        examples = [*parts.train, *parts.calibration]
        suspects = find_suspects(examples, config)
    except InvalidInputError as error:
        print(
            "\n".join(f"{p.field}: {p.problem}; {p.remedy}" for p in error.problems),
            file=sys.stderr,
        )
        return 1
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    # Authored comments are labelled by what they were written as, which no text contradicts.
    suspects = [s for s in suspects if not s.example.source.startswith(AUTHORED)]
    for suspect in suspects:
        print(json.dumps(_line(suspect, with_text=options.with_text)))
    counts = Counter(suspect.example.source for suspect in suspects)
    print(f"{len(suspects)} suspects: {dict(counts.most_common())}", file=sys.stderr)
    return 0


def _line(suspect: Suspect, *, with_text: bool) -> dict[str, object]:
    example = suspect.example
    line: dict[str, object] = {
        "id": example.comment.id,
        "label": "spam" if example.is_spam else "ham",
        "p_label": float(f"{suspect.p_label:.2g}"),
    }
    if with_text:
        line |= {
            "post": example.comment.post.title,
            "author_host": example.input.author_host,
            "text": example.comment.text[:_SHOWN_CHARS],
        }
    return line


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.suspects", description=__doc__)
    parser.add_argument(
        "--data", type=Path, nargs="+", required=True, help="data files or folders of them"
    )
    parser.add_argument(
        "--corrections",
        type=Path,
        default=LABEL_CORRECTIONS,
        help="corrections to apply first, so that what is settled is not listed again",
    )
    parser.add_argument(
        "--with-text", action="store_true", help="show the beginning of each comment, to judge it"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
