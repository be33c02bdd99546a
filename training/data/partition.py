"""Splits comments into train, calibration and test so that nothing related lies in two parts.

A part is drawn for one post at a time, from the post's own key and the seed: whatever else is
read beside it, a comment stays in its part, so the test part is the same for every version.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from models.text import EMAIL, HOST, LINK, PHONE, normalise
from training.data.dataset import Dataset, Example
from training.data.split import MIN_COPY_WORDS, group_copies, group_examples

# Whole sources, so that the figures are about blogs that nothing was learnt from: large and
# small, of 2004 to 2026, with all 96 machine-written spam comments that were found in the wild.
TEST_SOURCES = frozenset({"haacked", "travisdowns", "gabeluci", "willymcallister", "edwinwenink"})
# Mobile development, Azure, Linux on phones, a web developer; spam of 2015 to 2024.
CALIBRATION_SOURCES = frozenset({"chrisrisner", "hajekj", "bloggerbust", "eduardoboucas"})

AUTHORED = "authored-"
# All written after versions had been measured: learnt from alone, so that the test part stays as
# it is.
TRAIN_SOURCES = frozenset(f"authored-t{n}" for n in range(10, 16))
# The parts are drawn with it; another number is another test part.
SEED = 20_260

# Authored comments alone have marked promotion, campaigns and hardness, so some are tested on.
_AUTHORED_TEST_SHARE = 0.15
_CALIBRATION_SHARE = 0.15
# One flood of copies can tie most of a source together: hcuk94 106 of its 110 comments,
# hendrixjoseph 1,088 of 1,668. Such a group would be all that calibration sees of the source.
_MAX_DRAWN_SHARE = 0.25

# Campaigns tie authored posts into 313 groups, some of 80 comments, so most draws are lopsided. Of
# 4,000 numbers this one shares out the eight authored files there were most evenly under that seed:
# 12 to 22 % of each to test, 9 to 16 % to calibration. Comments were counted to choose it, nothing
# was fitted. Another number is another test part: keep it.
_DRAW = 3448

COPY_OF_TEST = "copy of a test comment"
COPY_OF_CALIBRATION = "copy of a calibration comment"
_REPEAT = "repeat of another training comment"
_BOTH_LABELS = "same text as a training comment with the other label"

_CONTACTS = (LINK, HOST, EMAIL, PHONE)


class Part(StrEnum):
    """What a comment is used for."""

    TRAIN = "train"
    CALIBRATION = "calibration"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """The three parts, each in the order of the data set, and why each missing comment is.

    `dropped` maps a comment's id to a reason in fixed words.
    """

    train: tuple[Example, ...]
    calibration: tuple[Example, ...]
    test: tuple[Example, ...]
    dropped: Mapping[str, str]


def partition(
    dataset: Dataset,
    *,
    seed: int,
    test_sources: Collection[str] = TEST_SOURCES,
    calibration_sources: Collection[str] = CALIBRATION_SOURCES,
) -> Partition:
    """Return the three parts of a data set, copies across them removed.

    The sources named go whole to their part, `TRAIN_SOURCES` to train; names that the data do not
    hold change nothing. Of the other authored comments about 15 % of the groups (post, campaign,
    copies) are drawn for test and 15 % for calibration, of every other source about 15 % for
    calibration; the rest is for training. Copies of a test comment are dropped from the other two
    parts, copies of a calibration comment from train; of copies inside train one is kept, or none
    where labels differ. The test part loses nothing. Takes about a second for 2,000 comments.

    Raise `ValueError` for a source that is named for both parts.
    """
    named_twice = sorted(set(test_sources) & set(calibration_sources))
    if named_twice:
        msg = f"a source is either for test or for calibration, not both: {named_twice}"
        raise ValueError(msg)
    examples = dataset.examples
    part_of = _draw(examples, seed, set(test_sources), set(calibration_sources))
    dropped = _drop_copies(examples, part_of)
    kept: defaultdict[Part, list[Example]] = defaultdict(list)
    for example in examples:
        if example.comment.id not in dropped:
            kept[part_of[example.comment.id]].append(example)
    return Partition(
        train=tuple(kept[Part.TRAIN]),
        calibration=tuple(kept[Part.CALIBRATION]),
        test=tuple(kept[Part.TEST]),
        dropped={**dataset.dropped, **dropped},
    )


def _draw(
    examples: Sequence[Example], seed: int, test: set[str], calibration: set[str]
) -> dict[str, Part]:
    """Return the part of each comment's id, before copies are dropped."""
    part_of: dict[str, Part] = {}
    # Authored campaigns run through several files; any other source is grouped on its own, or
    # adding one would move comments of another.
    to_draw: defaultdict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.source in test:
            part_of[example.comment.id] = Part.TEST
        elif example.source in calibration:
            part_of[example.comment.id] = Part.CALIBRATION
        elif example.source in TRAIN_SOURCES:
            part_of[example.comment.id] = Part.TRAIN
        else:
            is_authored = example.source.startswith(AUTHORED)
            to_draw[AUTHORED if is_authored else example.source].append(example)
    for source, drawn in to_draw.items():
        test_share = _AUTHORED_TEST_SHARE if source == AUTHORED else 0.0
        for group in _groups_of(drawn):
            part = _part_of_group(group, seed, test_share)
            if source != AUTHORED and len(group) > _MAX_DRAWN_SHARE * len(drawn):
                part = Part.TRAIN
            part_of |= {example.comment.id: part for example in group}
    return part_of


def _groups_of(examples: Sequence[Example]) -> Iterable[list[Example]]:
    groups: defaultdict[int, list[Example]] = defaultdict(list)
    for example, group in zip(examples, group_examples(examples).tolist(), strict=True):
        groups[group].append(example)
    return groups.values()


def _part_of_group(group: Sequence[Example], seed: int, test_share: float) -> Part:
    """Return the part that the first of a group's posts draws."""
    key = f"{_DRAW}/{seed}/{min(example.post_key for example in group)}"
    digest = hashlib.sha256(key.encode(errors="surrogatepass")).digest()
    draw = int.from_bytes(digest[:8], "big") / 2**64
    if draw < test_share:
        return Part.TEST
    if draw < test_share + _CALIBRATION_SHARE:
        return Part.CALIBRATION
    return Part.TRAIN


def _drop_copies(examples: Sequence[Example], part_of: Mapping[str, Part]) -> dict[str, str]:
    """Return the reason for each comment that must go, by its id."""
    dropped: dict[str, str] = {}
    for cluster in _clusters(examples):
        parts = {part: [e for e in cluster if part_of[e.comment.id] is part] for part in Part}
        if parts[Part.TEST]:
            lost, reason = [*parts[Part.CALIBRATION], *parts[Part.TRAIN]], COPY_OF_TEST
        elif parts[Part.CALIBRATION]:
            lost, reason = parts[Part.TRAIN], COPY_OF_CALIBRATION
        elif len({example.is_spam for example in cluster}) > 1:
            lost, reason = cluster, _BOTH_LABELS
        else:
            lost, reason = sorted(cluster, key=_worth)[1:], _REPEAT
        dropped |= {example.comment.id: reason for example in lost}
    return dropped


def _worth(example: Example) -> tuple[bool, str]:
    """Return a sort key: marked promotion first, then by id, however the files were ordered."""
    return not example.promo_spans, example.comment.id


def _clusters(examples: Sequence[Example]) -> Iterable[list[Example]]:
    """Return the lists of two or more comments that are copies of one another."""
    groups = group_copies([example.comment.text for example in examples])
    first_with: dict[tuple[str, str | None], int] = {}
    for position, example in enumerate(examples):
        key = short_key(example)
        if key:
            groups[position] = first_with.setdefault(key, position)
    clusters: defaultdict[int, list[Example]] = defaultdict(list)
    names, sizes = np.unique(groups, return_counts=True)
    shared = set(names[sizes > 1].tolist())
    for example, group in zip(examples, groups.tolist(), strict=True):
        if group in shared:
            clusters[group].append(example)
    return clusters.values()


def short_key(example: Example) -> tuple[str, str | None] | None:
    """Return what makes two short comments copies, or None if nothing does.

    Readers say "thanks, great post!" without having copied it, and will say it to a trained
    version too: dropping every such text would teach it that nobody does. A link, an address or
    the same site for the author is no such chance.
    """
    text = normalise(example.comment.text)
    if len(text.split()) >= MIN_COPY_WORDS:
        return None
    host = example.input.author_host
    return (text, host) if host or any(mark in text for mark in _CONTACTS) else None
