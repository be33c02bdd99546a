"""Measures how comments are grouped into campaigns: authored ones among real ham.

    python -m tests.benchmarks.campaign_grouping --data FOLDER [--cache FILE]

Every comment is judged by the shipped version as it serves, without histories; those whose verdict
is not ham are grouped, in a seeded random order, as they would come in.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from models.inputs import ModelInput, ModelOutput
from service.campaigns.grouping import Grouping
from service.campaigns.traits import Traits, traits_of
from service.domain.history import History
from service.domain.verdict import Outcome
from service.moderation.judging.judgement import judge_comments
from tests.benchmarks.judging_model import current_folder, load_judging_model
from training.data.dataset import (
    DEFAULT_DATA,
    Dataset,
    Example,
    read_dataset,
)
from training.data.partition import SEED, Part, partition

_HAM = 20_000
_BATCH = 64
_ORDER_SEED = 6

Keep = Callable[[Traits], Traits]
_WAYS: dict[str, Keep] = {
    "copies": lambda t: replace(t, targets=frozenset(), embedding=None),
    "targets": lambda t: replace(t, copies=(), embedding=None),
    "meaning": lambda t: replace(t, copies=(), targets=frozenset()),
    "targets and meaning": lambda t: replace(t, copies=()),
    "all": lambda t: t,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entering:
    """A comment that is not ham by its verdict, with what is known of it."""

    traits: Traits
    campaign: str | None
    is_spam: bool
    is_test: bool


class Remembering:
    """Passes a batch on to the classifier and keeps its answers, for their embeddings."""

    def __init__(self, classifier: object) -> None:
        self._classifier = classifier
        self.answers: list[ModelOutput] = []

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        self.answers = self._classifier.score_batch(inputs)  # type: ignore[attr-defined]  # any
        return self.answers


Judged = tuple[float, tuple[float, ...] | None]


def judge(examples: Sequence[Example], cache: Path | None) -> dict[str, Judged]:
    """Return probability and embedding of each comment whose verdict is not ham, by its id.

    `cache` is a file that keeps the answers; it is used only for the same version and comments.
    """
    model = load_judging_model(current_folder())
    wanted = {"version": model.version, "ids": sorted(e.comment.id for e in examples)}
    if cache and cache.exists():
        kept = json.loads(cache.read_text("utf-8"))
        if {key: kept[key] for key in wanted} == wanted:
            return {key: (p, tuple(v) if v else None) for key, (p, v) in kept["found"].items()}
    remembering = Remembering(model.classifier)
    model = replace(model, classifier=remembering)
    found: dict[str, Judged] = {}
    for start in range(0, len(examples), _BATCH):
        batch = [e.comment for e in examples[start : start + _BATCH]]
        verdicts = judge_comments(
            batch, model, histories=[History()] * len(batch), now=datetime.now(UTC)
        )
        for verdict, answer in zip(verdicts, remembering.answers, strict=True):
            if verdict.outcome is not Outcome.HAM:
                found[verdict.comment_id] = (verdict.p_spam, answer.embedding)
    if cache:
        cache.write_text(json.dumps({**wanted, "found": found}), "utf-8")
    return found


def group(entering: Sequence[Entering], keep: Keep) -> tuple[list[str | None], list[str]]:
    """Return each comment's group, None for single ones, and of each meeting its kind and worth."""
    grouping, groups, meetings = Grouping(), {}, []
    by_id = {e.traits.comment_id: e for e in entering}
    for one in entering:
        traits = keep(one.traits)
        met = grouping.find(traits)
        if met is None:
            grouping.remember(traits, None)
            continue
        other = by_id[met.comment_id]
        name = met.campaign_id or f"group-{met.comment_id}"
        if met.campaign_id is None:
            groups[met.comment_id] = name
            grouping.remember(keep(other.traits), name)
        groups[traits.comment_id] = name
        grouping.remember(traits, name)
        meetings.append(f"{met.likeness}, {_worth(one, other)}")
    return [groups.get(e.traits.comment_id) for e in entering], meetings


def _worth(one: Entering, other: Entering) -> str:
    if one.campaign and one.campaign == other.campaign:
        return "same campaign"
    if one.is_spam != other.is_spam:
        return "spam and ham"
    return "other spam" if one.is_spam else "two ham"


def measure(
    entering: Sequence[Entering], groups: Sequence[str | None], n_pairs: int, *, test: bool = False
) -> str:
    """Return a table's cells: precision, recall of entering pairs and of all pairs, with counts."""
    of_group: defaultdict[str, list[str]] = defaultdict(list)
    of_campaign: Counter[str] = Counter()
    for one, name in zip(entering, groups, strict=True):
        if one.campaign and (one.is_test or not test):
            of_campaign[one.campaign] += 1
            if name:
                of_group[name].append(one.campaign)
    pairs = [a == b for members in of_group.values() for a, b in combinations(members, 2)]
    possible = sum(n * (n - 1) // 2 for n in of_campaign.values())
    right = sum(pairs)
    return f"{_share(right, len(pairs))} | {_share(right, possible)} | {_share(right, n_pairs)}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part} of {whole})" if whole else "none"


def hit_ham(entering: Sequence[Entering], groups: Sequence[str | None]) -> str:
    """Return a table's cells: ham in a group with spam, ham in a group of ham alone."""
    labels: defaultdict[str, set[bool]] = defaultdict(set)
    for one, name in zip(entering, groups, strict=True):
        if name:
            labels[name].add(one.is_spam)
    ham = [labels[n] for e, n in zip(entering, groups, strict=True) if n and not e.is_spam]
    with_spam = sum(True in found for found in ham)
    return f"{with_spam} | {len(ham) - with_spam}"


def _pairs_of(examples: Sequence[Example]) -> int:
    sizes = Counter(e.campaign for e in examples if e.campaign)
    return sum(n * (n - 1) // 2 for n in sizes.values())


def _mixed(data: Path) -> tuple[list[Example], dict[str, Part]]:
    """Return authored members and public ham in a seeded order, and the part of each comment."""
    dataset: Dataset = read_dataset([DEFAULT_DATA, *sorted(data.glob("*.jsonl.gz"))])
    parts = partition(dataset, seed=SEED)
    part_of = {e.comment.id: part for part in Part for e in getattr(parts, part.value)}
    rng = random.Random(_ORDER_SEED)
    ham = [e for e in dataset.examples if not e.is_spam and not e.source.startswith("authored-")]
    chosen = rng.sample(ham, min(_HAM, len(ham)))
    mixed = [*chosen, *(e for e in dataset.examples if e.campaign)]
    rng.shuffle(mixed)
    return mixed, part_of


def main() -> None:
    """Print the tables of campaigns in `tests/benchmarks/RESULTS.md`."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.campaign_grouping")
    parser.add_argument("--data", type=Path, required=True, help="folder of the public corpora")
    parser.add_argument("--cache", type=Path, help="file to keep the judging in between runs")
    parser.add_argument("--part", choices=[part.value for part in Part], help="this part alone")
    options = parser.parse_args()
    mixed, part_of = _mixed(options.data)
    found = judge(mixed, options.cache)
    if options.part:
        mixed = [e for e in mixed if part_of.get(e.comment.id) == options.part]
    entering = [
        Entering(
            traits=traits_of(
                e.comment,
                embedding=found[e.comment.id][1],
                space="shipped",
                p_spam=found[e.comment.id][0],
            ),
            campaign=e.campaign,
            is_spam=e.is_spam,
            is_test=part_of.get(e.comment.id) is Part.TEST,
        )
        for e in mixed
        if e.comment.id in found
    ]
    n_ham = sum(not e.is_spam for e in mixed)
    print(
        f"{len(mixed) - n_ham} members of {len({e.campaign for e in mixed} - {None})} campaigns, "
        f"{n_ham} ham; not ham by verdict: {sum(e.is_spam for e in entering)} members, "
        f"{sum(not e.is_spam for e in entering)} ham"
    )
    all_pairs = _pairs_of(mixed)
    test_pairs = _pairs_of([e for e in mixed if part_of.get(e.comment.id) is Part.TEST])
    print("| by | precision | recall | recall of all | ham with spam | ham with ham |")
    for name, keep in _WAYS.items():
        groups, meetings = group(entering, keep)
        print(f"| {name} | {measure(entering, groups, all_pairs)} | {hit_ham(entering, groups)} |")
    print(f"| all, test part | {measure(entering, groups, test_pairs, test=True)} | | |")
    for kind, n in sorted(Counter(meetings).items()):
        print(f"{kind}: {n}")


if __name__ == "__main__":
    main()
