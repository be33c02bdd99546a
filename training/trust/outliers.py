"""Finds reviewers and sources that contradict confident verdicts far more often than others do.

Where a fifth of one source's labels are flipped, each single one may be an honest mistake of the
machine; their number is not. Only comments count that came before a person by themselves, unsure
or as an audit sample: whatever a person went and looked for is mostly a mistake of the machine, and
says nothing about how often it makes one. A campaign or a text counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from service.scoring.shares import wilson_interval
from training.data.decisions import Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlierConfig:
    """What counts as confident, and how much contradiction is too much.

    A calibrated probability beyond `confident` is contradicted by at most one ruling in ten, so
    whoever does so more often, and three times as often as the others, is an outlier. The lower end
    of a 99 % interval decides, so that of a hundred sincere ones about one in two hundred is lost.
    """

    confident: float = 0.9
    most_share: float = 0.1
    times_others: float = 3.0
    min_seen: int = 20
    confidence: float = 0.99


def leans_against(is_spam: bool, p_spam: float | None, config: OutlierConfig) -> bool:  # noqa: FBT001  # a label
    """Say whether a label contradicts a confident probability; None is none."""
    if p_spam is None:
        return False
    return (1 - p_spam if is_spam else p_spam) >= config.confident


def find_outliers(
    decided: Sequence[Decided],
    p_spam: Sequence[float | None],
    names: Sequence[str],
    kin: Sequence[Hashable],
    config: OutlierConfig,
) -> frozenset[str]:
    """Return the names that contradict the machine far more often than the others do.

    All arguments have one entry a decision: what the machine says of it, to whom it is laid, and
    the group of comments that count once.
    """
    seen: defaultdict[str, int] = defaultdict(int)
    against: defaultdict[str, int] = defaultdict(int)
    counted: set[tuple[str, Hashable, bool]] = set()
    for row, p, name, group in zip(decided, p_spam, names, kin, strict=True):
        once = (name, group, row.example.is_spam)
        is_confident = p is not None and max(p, 1 - p) >= config.confident
        if not row.is_drawn or not is_confident or once in counted:
            continue
        counted.add(once)
        seen[name] += 1
        against[name] += leans_against(row.example.is_spam, p, config)
    return frozenset(name for name in seen if _is_outlier(name, seen, against, config))


def _is_outlier(
    name: str, seen: dict[str, int], against: dict[str, int], config: OutlierConfig
) -> bool:
    if seen[name] < config.min_seen:
        return False
    low, _ = wilson_interval(against[name], seen[name], confidence=config.confidence)
    others_seen = sum(seen.values()) - seen[name]
    others_against = sum(against.values()) - against[name]
    enough = others_seen >= config.min_seen
    others = config.times_others * others_against / others_seen if enough else 0.0
    return low > max(config.most_share, others)
