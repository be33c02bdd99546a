"""Measures by contrasts whether a classifier leans on a shortcut.

A shortcut is something that goes along with the label in the data without making it, such as
"mentions code, hence ham". Each contrast of `training.experiments.contrast_edits` changes one such
thing; here the probabilities before and after are compared with what is expected.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.errors import ModelError
from models.inputs import ModelInput
from models.registry import SHIPPED_DIR, Classifier, ModelVersion, load_version, read_current_name
from service.domain.comment import Author, Comment, CommentId, Post
from service.domain.dataset_row import OFFLINE_SITE
from service.domain.errors import InvalidInputError, Problem
from service.domain.history import History
from service.domain.verdict import Outcome
from service.scoring.conclude import conclude, logit
from service.scoring.cutoffs import clopper_pearson
from service.scoring.policy import decide
from service.scoring.weights import Cutoffs, Weights
from service.signals.registry import detect_all
from training.data.dataset import Dataset, Example, read_dataset
from training.experiments.contrast_edits import (
    CONTRASTS,
    Contrast,
    Expected,
    Label,
)

__all__ = [
    "CONTRASTS",
    "Contrast",
    "ContrastResult",
    "Score",
    "Share",
    "classifier_score",
    "contrast_markdown",
    "contrast_rows",
    "measure_contrasts",
    "version_score",
]

FloatArray = npt.NDArray[np.float64]
# Answers p_spam for each input, in order.
Score = Callable[[Sequence[ModelInput]], FloatArray]

# The order of a verdict, from the least to the most like spam.
OUTCOMES = (Outcome.HAM, Outcome.UNSURE, Outcome.SPAM)
# A move counts if the odds change by this factor or more: any edit moves them a little.
ODDS_FACTOR = 2.0
_MIN_MOVE = float(np.log(ODDS_FACTOR))
_MAX_WORST = 5
_SEED = 20_260


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A count among all, with its exact 95 % interval (Clopper and Pearson).

    The interval takes comments as independent. Those of one campaign are not, so it is narrow.
    """

    hits: int
    count: int
    interval_95: tuple[float, float]

    @classmethod
    def of(cls, hits: npt.NDArray[np.bool_]) -> Share:
        """Count what is true."""
        n_hits = int(np.count_nonzero(hits))
        return cls(hits=n_hits, count=hits.size, interval_95=clopper_pearson(n_hits, hits.size))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastResult:
    """What one contrast did to the comments of one label.

    `n` comments were edited, to `n_not_applicable` the edit does not apply. Means are None where
    `n` is 0. `verdicts[before][after]` counts in the order ham, unsure, spam. `verdicts_against`
    counts verdicts that changed in a direction that was not expected, `odds_against` odds of spam
    that moved so by a factor of two or more. `worst_ids` are the comments that moved farthest
    against the expectation, farthest first, at most five.
    """

    contrast: str
    label: Label
    expected: Expected
    n: int
    n_not_applicable: int
    mean_p_before: float | None
    mean_p_after: float | None
    mean_log_odds_change: float | None
    verdicts: tuple[tuple[int, int, int], ...]
    verdicts_against: Share
    odds_against: Share
    worst_ids: tuple[str, ...]


def measure_contrasts(
    examples: Sequence[Example],
    score: Score,
    *,
    ham_cutoff: float,
    spam_cutoff: float,
    seed: int,
) -> list[ContrastResult]:
    """Return one result for each contrast and label, in the order of `CONTRASTS`.

    The same arguments give the same edits, and no comment's edit depends on another comment.
    Raise `ValueError` unless 0 <= ham_cutoff <= spam_cutoff <= 1, and if `score` does not answer
    one probability for each input.
    """
    cutoffs = Cutoffs(ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    before = _probabilities(score, [example.input for example in examples])
    results = []
    for contrast in CONTRASTS:
        for label in contrast.labels:
            at = [i for i, e in enumerate(examples) if e.is_spam == (label == "spam")]
            edited = [_edit(contrast, examples[i], seed) for i in at]
            applied = [(i, inputs) for i, inputs in zip(at, edited, strict=True) if inputs]
            results.append(
                _compare(
                    contrast,
                    label,
                    ids=[examples[i].comment.id for i, _ in applied],
                    before=before[[i for i, _ in applied]] if applied else np.zeros(0),
                    after=_probabilities(score, [inputs for _, inputs in applied]),
                    cutoffs=cutoffs,
                    n_not_applicable=len(at) - len(applied),
                )
            )
    return results


def _edit(contrast: Contrast, example: Example, seed: int) -> ModelInput | None:
    # Seeded by the comment as well, so that adding a comment leaves the others' edits alone.
    rng = random.Random(f"{seed}/{contrast.name}/{example.comment.id}")  # noqa: S311  # no secret
    return contrast.edit(example.input, rng)


def _probabilities(score: Score, inputs: Sequence[ModelInput]) -> FloatArray:
    if not inputs:
        return np.zeros(0)
    p_spam = np.asarray(score(inputs), dtype=np.float64)
    if p_spam.shape != (len(inputs),) or not bool(np.all((p_spam >= 0) & (p_spam <= 1))):
        msg = f"score must answer {len(inputs)} probabilities in [0, 1], one for each input"
        raise ValueError(msg)
    return p_spam


def _compare(
    contrast: Contrast,
    label: Label,
    *,
    ids: Sequence[str],
    before: FloatArray,
    after: FloatArray,
    cutoffs: Cutoffs,
    n_not_applicable: int,
) -> ContrastResult:
    moves = np.array([logit(a) - logit(b) for b, a in zip(before, after, strict=True)])
    was, became = _places(before, cutoffs), _places(after, cutoffs)
    counts = np.zeros((3, 3), dtype=np.int64)
    np.add.at(counts, (was, became), 1)
    against = _against(contrast.expected, moves)
    farthest_first = sorted(range(len(ids)), key=lambda i: (-against[i], ids[i]))
    return ContrastResult(
        contrast=contrast.name,
        label=label,
        expected=contrast.expected,
        n=len(ids),
        n_not_applicable=n_not_applicable,
        mean_p_before=float(before.mean()) if ids else None,
        mean_p_after=float(after.mean()) if ids else None,
        mean_log_odds_change=float(moves.mean()) if ids else None,
        verdicts=tuple((int(row[0]), int(row[1]), int(row[2])) for row in counts),
        verdicts_against=Share.of(
            _against(contrast.expected, np.subtract(became, was, dtype=np.float64)) > 0
        ),
        odds_against=Share.of(against >= _MIN_MOVE),
        worst_ids=tuple(ids[i] for i in farthest_first[:_MAX_WORST] if against[i] > 0),
    )


def _places(p_spam: FloatArray, cutoffs: Cutoffs) -> npt.NDArray[np.int64]:
    """Return each verdict as its place in `OUTCOMES`."""
    verdicts = [decide(float(p), cutoffs, degraded=False) for p in p_spam]
    return np.array([OUTCOMES.index(verdict) for verdict in verdicts], dtype=np.int64)


def _against(expected: Expected, moves: FloatArray) -> FloatArray:
    """Return how far each move goes against the expectation, 0 or less where it doesn't."""
    if expected == "same":
        return np.abs(moves)
    return moves if expected == "not higher" else -moves


def contrast_rows(results: Sequence[ContrastResult]) -> list[dict[str, Any]]:
    """Return the results as JSON can carry them; verdicts as `{before: {after: count}}`."""
    return [
        asdict(result)
        | {
            "verdicts": {
                before.value: dict(zip([o.value for o in OUTCOMES], row, strict=True))
                for before, row in zip(OUTCOMES, result.verdicts, strict=True)
            },
            "verdicts_against": _share_row(result.verdicts_against),
            "odds_against": _share_row(result.odds_against),
            "worst_ids": list(result.worst_ids),
        }
        for result in results
    ]


def _share_row(share: Share) -> dict[str, Any]:
    return asdict(share) | {"interval_95": list(share.interval_95)}


_HEAD = (
    "contrast",
    "label",
    "expected",
    "n",
    "does not apply",
    "mean p_spam",
    "log-odds",
    "verdicts changed",
    "verdicts against (95 %)",
    "odds against, twofold (95 %)",
    "worst",
)


def contrast_markdown(results: Sequence[ContrastResult]) -> str:
    """Return the results as one Markdown table; ids are made harmless to it."""
    lines = [_HEAD, ["---"] * len(_HEAD), *(_cells(result) for result in results)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _cells(result: ContrastResult) -> list[str]:
    edited = result.mean_log_odds_change is not None
    return [
        f"`{result.contrast}`",
        result.label,
        result.expected,
        f"{result.n:,}",
        f"{result.n_not_applicable:,}",
        f"{result.mean_p_before:.3f} to {result.mean_p_after:.3f}" if edited else "",
        f"{result.mean_log_odds_change:+.2f}" if edited else "",
        _changes(result),
        _share_cell(result.verdicts_against),
        _share_cell(result.odds_against),
        ", ".join(_harmless(comment_id) for comment_id in result.worst_ids),
    ]


def _changes(result: ContrastResult) -> str:
    """Return the verdicts that changed, each with its count; those that stayed are left out."""
    return ", ".join(
        f"{before.value} to {after.value} {count}"
        for before, row in zip(OUTCOMES, result.verdicts, strict=True)
        for after, count in zip(OUTCOMES, row, strict=True)
        if count and before is not after
    )


def _share_cell(share: Share) -> str:
    if not share.count:
        return ""
    low, high = share.interval_95
    return f"{share.hits} = {share.hits / share.count:.1%} ({low:.1%} to {high:.1%})"


def _harmless(comment_id: str) -> str:
    """Return an id with whatever a table or a page could take for markup replaced."""
    return "".join(c if c.isalnum() or c in "-_." else "?" for c in comment_id[:40])


def version_score(version: ModelVersion) -> Score:
    """Return how a version judges with all evidence: the classifier and the weighed signals.

    What the classifier reads is all that the detectors get to see, before the edit and after it:
    no sender history, no mail domain, no path of the author's URL.
    """
    weights = Weights(base=version.base, model=version.model_weight, signals=version.signal_weights)
    cutoffs = Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff)
    never_seen = History()
    at = datetime(1970, 1, 1, tzinfo=UTC)

    def score(inputs: Sequence[ModelInput]) -> FloatArray:
        outputs = version.classifier.score_batch(inputs)
        comments = [_comment(one, at) for one in inputs]
        verdicts = [
            conclude(
                comment.id,
                signals=detect_all(comment, never_seen),
                output=output,
                model_version=version.version,
                weights=weights,
                cutoffs=cutoffs,
                judged_at=at,
            )
            for comment, output in zip(comments, outputs, strict=True)
        ]
        return np.array([verdict.p_spam for verdict in verdicts])

    return score


def _comment(inputs: ModelInput, at: datetime) -> Comment:
    url = f"https://{inputs.author_host}/" if inputs.author_host else None
    return Comment(
        id=CommentId("contrast"),
        site_id=OFFLINE_SITE,
        text=inputs.text,
        received_at=at,
        post=Post(title=inputs.post_title or None, excerpt=inputs.post_excerpt or None),
        author=Author(name=inputs.author_name or None, url=url),
    )


def classifier_score(classifier: Classifier) -> Score:
    """Return what a classifier says alone; a version's cutoffs are not meant for that."""

    def score(inputs: Sequence[ModelInput]) -> FloatArray:
        return np.array([output.p_spam for output in classifier.score_batch(inputs)])

    return score


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 1 after one clear message on standard error."""
    options = _parse(arguments)
    try:
        _measure_version(options)
    except InvalidInputError as error:
        lines = [f"{p.field}: {p.problem}; {p.remedy}" for p in error.problems]
    except (ModelError, ValueError) as error:
        lines = [str(error)]
    except OSError as error:
        lines = [f"--out cannot be written ({error.strerror}): name a file in a folder that exists"]
    else:
        return 0
    print("\n".join(lines), file=sys.stderr)
    return 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.contrast", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        required=True,
        help="data files (.jsonl, .jsonl.gz) or folders of them",
    )
    parser.add_argument("--version", type=Path, help="a version's folder; the current by default")
    parser.add_argument("--out", type=Path, help="the page, in Markdown; else standard output")
    parser.add_argument("--json", type=Path, help="the same for programs")
    parser.add_argument("--sample", type=int, help="at most so many comments of each label")
    parser.add_argument("--seed", type=int, default=_SEED, help="of the edits and of the sample")
    parser.add_argument(
        "--model-alone", action="store_true", help="leave the weighed signals out of the score"
    )
    return parser.parse_args(arguments)


def _measure_version(options: argparse.Namespace) -> None:
    _check(options)
    folder = options.version or SHIPPED_DIR / read_current_name()
    version = load_version(folder)
    dataset = read_dataset(options.data)
    examples = _sample(dataset.examples, options.sample, options.seed)
    alone = options.model_alone
    results = measure_contrasts(
        examples,
        classifier_score(version.classifier) if alone else version_score(version),
        ham_cutoff=version.ham_cutoff,
        spam_cutoff=version.spam_cutoff,
        seed=options.seed,
    )
    page = "\n\n".join(
        [
            f"# Contrasts: {version.version}",
            _what_was_measured(version, examples, options),
            _data_lines(dataset),
            _seen_in_training(dataset, _trained_on(folder)),
            contrast_markdown(results),
        ]
    )
    if options.json:
        facts = {
            "version": version.version,
            "model_alone": alone,
            "ham_cutoff": version.ham_cutoff,
            "spam_cutoff": version.spam_cutoff,
            "seed": options.seed,
            "sample": options.sample,
            "data": [asdict(file) for file in dataset.files],
            "contrasts": contrast_rows(results),
        }
        text = json.dumps(facts, allow_nan=False, indent=1)
        options.json.write_text(f"{text}\n", encoding="utf-8")
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    else:
        print(page, end="")


def _check(options: argparse.Namespace) -> None:
    """Refuse, before anything is measured, what would fail after it."""
    problems = [
        Problem(
            field=f"--{name}",
            problem="is no file in a folder that exists",
            remedy="make the folder, or name another file",
        )
        for name, path in (("out", options.out), ("json", options.json))
        if path and (path.is_dir() or not path.parent.is_dir())
    ]
    if options.sample is not None and options.sample < 1:
        problems.append(
            Problem(field="--sample", problem="is below 1", remedy="give a number of comments")
        )
    if problems:
        raise InvalidInputError(problems)


def _sample(examples: Sequence[Example], most: int | None, seed: int) -> list[Example]:
    """Return at most so many examples of each label, in their order."""
    if most is None:
        return list(examples)
    kept: list[int] = []
    for is_spam in (False, True):
        at = [i for i, example in enumerate(examples) if example.is_spam is is_spam]
        rng = random.Random(f"{seed}/sample/{is_spam}")  # noqa: S311  # no secret
        kept += rng.sample(at, min(most, len(at)))
    return [examples[i] for i in sorted(kept)]


def _what_was_measured(
    version: ModelVersion, examples: Sequence[Example], options: argparse.Namespace
) -> str:
    n_spam = sum(example.is_spam for example in examples)
    sampled = f", a sample of at most {options.sample:,} a label" if options.sample else ""
    evidence = (
        "the classifier alone, held against cutoffs that are meant for all evidence"
        if options.model_alone
        else "all evidence, the classifier and the weighed signals"
    )
    return (
        f"{len(examples) - n_spam:,} ham and {n_spam:,} spam{sampled}. Scored by {evidence}; ham "
        f"below {version.ham_cutoff:.4f}, spam from {version.spam_cutoff:.4f} up. Seed "
        f"{options.seed}. A contrast edits one thing; *against* counts the comments that moved in "
        f"a direction that was not expected: by a verdict, and by odds of spam that changed "
        f"{ODDS_FACTOR:g}-fold or more. Intervals are exact binomial and take comments as "
        "independent."
    )


def _data_lines(dataset: Dataset) -> str:
    return "\n".join(
        f"- `{file.name}`: {file.n_ham:,} ham, {file.n_spam:,} spam, SHA-256 {file.sha256[:16]}"
        for file in dataset.files
    )


def _trained_on(folder: Path) -> frozenset[str]:
    """Return the SHA-256 of the files that the version's card names, none where it names none."""
    try:
        card = json.loads((folder / "card.json").read_bytes())
        return frozenset(str(file["sha256"]) for file in card["data"])
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()


def _seen_in_training(dataset: Dataset, trained_on: frozenset[str]) -> str:
    seen = [file.name for file in dataset.files if file.sha256 in trained_on]
    if not seen:
        return "By its card the version was trained on none of these files."
    return (
        f"**In-sample**: the version was trained on {len(seen)} of these {len(dataset.files)} "
        "files. It knows their comments, so its probabilities before the edit are too good and "
        "the changes say less than on comments it never saw."
    )


if __name__ == "__main__":
    sys.exit(main())
