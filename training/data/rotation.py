"""Leaves out whole sources in turn, so that each comment is judged without its source.

Recipes, cutoffs and the card's figures are fitted on these scores (cross-fitting). The shipped
version then learns everything with the same settings.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from training.arrays import IntArray
from training.data.dataset import AUTHORED, Example
from training.data.split import group_copies, group_examples

# The weight of comments from other places when only words are learnt.
_ELSEWHERE = 0.3

# Chats, videos and posts of networks, which are not comments under a post. They get less weight.
OTHER_PLACES: Mapping[str, float] = {
    "janitr-x": 0.3,
    "judol-id": 0.5,
    "tg-spam": 0.5,
    "youtube": 0.7,
    "datacamp": 0.7,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationConfig:
    """The settings of the rotation."""

    # Arbitrary, but fixed, so that a run can be repeated.
    seed: int = 20_260
    # Each network learns from three quarters.
    n_folds: int = 4
    # The folds that are trained and judged. Each takes half an hour of two cores with bfloat16.
    n_judged: int = 2
    # The most comments of a source and label in one epoch, drawn again for each. Otherwise one
    # blog's ham would dominate.
    most_of_source: int = 900
    # The same for other places.
    most_of_other_place: int = 300
    # This source teaches more, because only it has a certain kind of spam.
    most_of: Mapping[str, int] = field(default_factory=lambda: {"haacked": 1_800})


def is_authored(example: Example) -> bool:
    """Return True if a comment was written for this project."""
    return example.source.startswith(AUTHORED)


def assign_rotation(examples: Sequence[Example], config: RotationConfig) -> IntArray:
    """Return each comment's fold: public sources whole, authored ones by post and campaign.

    Sources are assigned in falling size to the fold that then has the most even numbers of spam and
    ham. No source counts for more than an epoch draws from it.
    """
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for example in examples:
        counts[example.source][example.is_spam] += 1
    public = {
        source: Counter({spam: min(n, _most_of(source, config) or n) for spam, n in count.items()})
        for source, count in counts.items()
        if not source.startswith(AUTHORED)
    }
    whole = {spam: sum(c[spam] for c in public.values()) or 1 for spam in (True, False)}
    filled = [Counter[bool]() for _ in range(config.n_folds)]
    fold_of: dict[str, int] = {}
    for source, count in sorted(public.items(), key=lambda one: (-one[1].total(), one[0])):
        costs = [
            sum(((taken[spam] + count[spam]) / whole[spam]) ** 2 for spam in whole)
            - sum((taken[spam] / whole[spam]) ** 2 for spam in whole)
            for taken in filled
        ]
        fold_of[source] = int(np.argmin(costs))
        filled[fold_of[source]].update(count)
    authored = [i for i, e in enumerate(examples) if is_authored(e)]
    folds = np.array([fold_of.get(e.source, 0) for e in examples], dtype=np.int64)
    groups = group_examples([examples[i] for i in authored]).tolist() if authored else []
    first: dict[int, int] = {}
    for position, group in zip(authored, groups, strict=True):
        key = first.setdefault(group, position)
        drawn_by = f"{config.seed}/{examples[key].post_key}".encode(errors="surrogatepass")
        digest = hashlib.sha256(drawn_by).digest()
        folds[position] = int.from_bytes(digest[:8], "big") % config.n_folds
    return folds


def training_rows(examples: Sequence[Example], folds: IntArray, held: int | None) -> list[int]:
    """Return the positions to learn from without the fold `held`; all but copies if it is None.

    Copies of held comments are left out. Of other copies one stays, or none if their labels differ.
    """
    copies = group_copies([example.comment.text for example in examples])
    clusters: defaultdict[int, list[int]] = defaultdict(list)
    for position, cluster in enumerate(copies.tolist()):
        clusters[cluster].append(position)
    chosen = []
    for members in clusters.values():
        if held is not None and any(folds[i] == held for i in members):
            continue
        if len({examples[i].is_spam for i in members}) == 1:
            chosen.append(min(members, key=lambda i: (not examples[i].promo_spans, i)))
    return sorted(chosen)


def weight_of(example: Example) -> float:
    """Return a comment's weight in training."""
    if is_authored(example) and example.language not in (None, "en"):
        return 1.5
    return OTHER_PLACES.get(example.source, 1.0)


def weight_for_words_of(example: Example) -> float:
    """Return a comment's weight when only words are learnt.

    Words from other places mislead about comments on blogs.
    """
    return weight_of(example) * (_ELSEWHERE if example.source in OTHER_PLACES else 1.0)


def draw_epochs(
    examples: Sequence[Example], teaching: Sequence[int], config: RotationConfig
) -> Iterator[list[int]]:
    """Yield the positions of each epoch, drawn from `teaching`, without end."""
    kinds: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for position in teaching:
        kinds[examples[position].source, examples[position].is_spam].append(position)
    rng = np.random.default_rng(config.seed)
    orders = {kind: rng.permutation(members) for kind, members in sorted(kinds.items())}
    epoch = 0
    while True:
        yield sorted(
            int(i)
            for (source, _), order in orders.items()
            for i in _epoch_share(order, _most_of(source, config), epoch)
        )
        epoch += 1


def _most_of(source: str, config: RotationConfig) -> int | None:
    if source.startswith(AUTHORED):
        return None
    if source in OTHER_PLACES:
        return config.most_of_other_place
    return config.most_of.get(source, config.most_of_source)


def _epoch_share(order: IntArray, most: int | None, epoch: int) -> IntArray:
    """Return the epoch's share of a shuffled list, which starts again at its end."""
    if most is None or len(order) <= most:
        return order
    return np.take(order, np.arange(epoch * most, (epoch + 1) * most), mode="wrap")
