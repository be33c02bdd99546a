"""Counts the pairs of planted rings that are found among a month of real ham, and who else.

Archives keep no accounts and no addresses: those of everybody are drawn here from stated
distributions. Words, links and names of ham are real; rings and their ways are made up.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

from service.campaigns.acts import Act, act_of
from service.campaigns.rings import RingGraph
from service.domain.comment import Author, Comment, CommentId, Lane, Sender
from service.domain.dataset_row import comment_from_row
from service.moderation.judging.ring import RingMemory, find_rings
from service.ports.comments import NewComment
from tests.factories import NOW, SITE, make_comment, make_verdict
from tests.worlds import services_in
from training.data.dataset import read_rows

_SEED, _DAYS = 20_260, 30
_RINGS, _SIZES = 30, (3, 12)
_CLASS = 40
# Of ham's writers: behind the carrier's eight blocks, in the office's one; others have their own.
_CARRIER, _OFFICE = 0.2, 0.01
_CARRIER_BLOCKS = 8
# What is judged between two looks, and what is judged together.
_PORTION, _BATCH = 200, 64
# How often a ring's comment or member has what its others have too.
_LINKS, _COPIES, _SAME_HOUR, _BORN_TOGETHER, _SAME_SHAPE, _ANSWERS = 0.7, 0.5, 0.4, 0.7, 0.8, 0.3
_WORDS = [
    "honestly",
    "this",
    "machine",
    "saved",
    "the",
    "whole",
    "kitchen",
    "after",
    "three",
    "plumbers",
    "shrugged",
    "and",
    "my",
    "neighbour",
    "laughed",
    "about",
    "every",
    "single",
    "bucket",
    "standing",
    "underneath",
    "the",
    "leaking",
    "ceiling",
    "last",
    "november",
    "when",
    "nobody",
    "wanted",
    "another",
    "estimate",
    "from",
    "companies",
    "which",
    "never",
    "answered",
    "their",
    "telephones",
]


def _sent(comment: Comment, who: str, block: str, born: datetime, at: datetime) -> Comment:
    age = max(0, (at - born).days)
    author = replace(comment.author, account_id=who, account_age_days=age)
    sender = Sender(account_key=f"account {who}", network_key=block, email_domain="mail.example")
    return replace(comment, site_id=SITE, author=author, sender=sender, received_at=at)


def _born(rng: random.Random) -> datetime:
    return NOW - timedelta(days=rng.uniform(0, 2_000))


def ham(files: Sequence[Path], most: int, rng: random.Random) -> Iterator[Comment]:
    """Yield real ham as if it had come within a month, each writer with an account of their own."""
    rows = [row for path in files for _, row in read_rows(path, []) if row["label"] == "ham"]
    people: dict[str, tuple[str, datetime]] = {}
    for number, row in enumerate(rng.sample(rows, min(most, len(rows)))):
        comment = comment_from_row(row)
        who = comment.author.name or f"nameless {number}"
        if who not in people:
            place = rng.random()
            block = f"own {who}"
            if place < _CARRIER:
                block = f"carrier {rng.randrange(_CARRIER_BLOCKS)}"
            elif place < _CARRIER + _OFFICE:
                block = "office"
            people[who] = (block, _born(rng))
        block, born = people[who]
        yield _sent(comment, f"ham {who}", block, born, NOW + timedelta(days=rng.uniform(0, _DAYS)))


def school(rng: random.Random) -> Iterator[Comment]:
    """Yield a class: registered in one lesson, from one block, answering, citing one another."""
    lesson = NOW + timedelta(days=9, hours=10)
    for number in range(_CLASS):
        for turn in range(2):
            link = "https://teacher-pages.example/valves" if rng.random() < 0.5 else ""
            if number % 8 == 0:
                link = f"https://films-of-pupils.example/{number // 16}"
            words = " ".join(rng.sample(_WORDS, 12))
            comment = make_comment(
                f"We read it in class. {words} {link}",
                author=Author(name=f"Pupil {number}"),
                site_comment_id=f"class-{number}-{turn}",
                reply_to=f"class-{rng.randrange(_CLASS)}-0",
            )
            at = lesson + timedelta(minutes=rng.uniform(0, 45))
            yield _sent(comment, f"pupil {number}", "school", lesson, at)


def ring(number: int, rng: random.Random) -> Iterator[Comment]:
    """Yield the comments of one ring of three to twelve."""
    target = f"https://ring-shop-{number}.example/offer"
    template = rng.sample(_WORDS, 24)
    together = _born(rng)
    begins = NOW + timedelta(days=rng.uniform(1, _DAYS - 3))
    for member in range(rng.randint(*_SIZES)):
        born = together if rng.random() < _BORN_TOGETHER else _born(rng)
        shaped = rng.random() < _SAME_SHAPE
        name = f"Ann{rng.randrange(10)}{rng.randrange(10)}" if shaped else rng.choice(_WORDS)
        for turn in range(rng.randint(1, 4)):
            copied = rng.random() < _COPIES
            words = template if copied else rng.sample(_WORDS, 20)
            link = target if rng.random() < _LINKS else ""
            comment = make_comment(
                f"{' '.join(words)} {link}",
                author=Author(name=name),
                site_comment_id=f"ring-{number}-{member}-{turn}",
                reply_to=f"ring-{number}-{rng.randrange(3)}-0" if rng.random() < _ANSWERS else None,
            )
            near = rng.random() < _SAME_HOUR
            at = begins + timedelta(minutes=rng.uniform(0, 30) if near else rng.uniform(0, 2_880))
            block = f"ring {number}" if near else f"own {number} {member} {turn}"
            yield _sent(comment, f"ring {number} {member}", block, born, at)


def _acts(comments: Sequence[Comment]) -> Iterator[Act]:
    for comment in sorted(comments, key=lambda one: one.received_at):
        sells = comment.author.account_id and comment.author.account_id.startswith("ring ")
        act = act_of(comment, p_spam=0.9 if sells else 0.02)
        if act is not None:
            yield act


def _pairs(groups: Sequence[frozenset[str]]) -> set[tuple[str, ...]]:
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


def measure(files: Sequence[Path], most: int) -> None:
    """Print precision and recall of pairs, and who of the sincere is in a ring.

    Comments come in by portions; after each, rings are found and kept as in a worker's turn.
    """
    rng = random.Random(_SEED)
    planted = [list(ring(number, rng)) for number in range(_RINGS)]
    true = [frozenset(c.sender.account_key or "" for c in one) for one in planted]
    comments = [*ham(files, most, rng), *school(rng), *(c for one in planted for c in one)]
    acts = list(_acts(comments))
    kept = {one.id: one for one in comments}
    memory, seconds = RingMemory(most=200_000), 0.0
    with services_in() as services:
        for start in range(0, len(acts), _PORTION):
            some = acts[start : start + _PORTION]
            services.intake.comments.add(
                [NewComment(comment=kept[one.comment_id], lane=Lane.BULK) for one in some]
            )
            services.judging.verdicts.add(
                [make_verdict(one.comment_id, p_spam=0.9 if one.sells else 0.02) for one in some],
                audit=frozenset(),
                acts=some,
            )
            began = time.process_time()
            find_rings(services.clusters, services.common, memory, goes_on=lambda: True)
            seconds += time.process_time() - began
        who = sorted({one.who for one in acts})
        groups: dict[str, set[str]] = {}
        for one, ring_id in services.clusters.rings.ringed(who).items():
            groups.setdefault(ring_id, set()).add(one)
        began = time.process_time()
        for start in range(0, len(who), _BATCH):
            services.clusters.rings.rulings_beside(who[start : start + _BATCH])
        asking = time.process_time() - began
    rings = [frozenset(group) for group in groups.values()]
    found, wanted = _pairs(rings), _pairs(true)
    right = len(found & wanted)
    sincere = {who for one in rings for who in one if not who.startswith("account ring ")}
    print(f"{len(acts):,} comments by {len(who):,} senders, {_RINGS} planted rings")
    print(f"found {len(rings)} rings; pairs: precision {right:,} of {len(found):,}", end=", ")
    print(f"recall {right:,} of {len(wanted):,}")
    print(f"planted rings with a pair found: {sum(bool(_pairs([t]) & found) for t in true)}")
    print(f"sincere people in a ring with spam: {len(sincere)}")
    print(f"found and kept in {1e6 * seconds / len(acts):.0f} us a comment", end=", ")
    print(f"asked for in {1e6 * asking / len(who):.0f} us")


def stream(count: int) -> None:
    """Print what a long stream of made-up comments takes, with a crowd and pairs in it."""
    rng, graph = random.Random(_SEED), RingGraph()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    for number in range(count):
        who = f"{rng.randrange(count // 2):x}"
        ties = [f"block:{rng.randrange(200)}:{number // 500}", f"born:s:{rng.randrange(2_000)}"]
        ties += [f"target:{rng.randrange(count // 3)}", f"shape:{rng.randrange(300)}"]
        ties += [f"copy:{rng.randrange(2 * count)}" for _ in range(4)]
        at = NOW + timedelta(seconds=3 * number)
        graph.see(
            Act(comment_id=CommentId(f"com_{number}"), who=who, at=at, ties=tuple(ties), sells=True)
        )
    seconds = time.process_time() - began
    began = time.process_time()
    rings = len(graph.rings())
    reading = time.process_time() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1_024
    print(f"{count:,} comments: {1e6 * seconds / count:.0f} us each, {grown:.0f} MiB", end=", ")
    print(f"rings read in {reading:.2f} s ({rings} of chance)")


def main() -> None:
    """Measure what is found, then what it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="public comments, as JSON lines")
    parser.add_argument("--most", type=int, default=3_000, help="ham of a month")
    parser.add_argument("--stream", type=int, default=1_000_000, help="comments of the long stream")
    options = parser.parse_args()
    measure(options.files, options.most)
    stream(options.stream)


if __name__ == "__main__":
    main()
