"""Simulates careful people who scan screens of several sizes and orders, and prints what it costs.

    python -m tests.benchmarks.scan_steps

A thousand authored comments, 60 % ham, are scored by the shipped version. What lies in a band is
scanned by `CarefulPerson`, who overlooks and ticks at the rates written there; the rest is looked
at alone. As the version has learnt from these comments, its bands hold fewer of the other kind than
they may elsewhere: `--others` turns so many of a hundred into the other kind, whatever their score.
Caught is what a check kept out of a wrong bulk decision and a single look put right.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.domain.comment import CommentId
from service.domain.scan import Band
from service.moderation.review.scan import MAX_SCANNED_CHARS
from service.scoring.scan_steps import count_checks
from tests.benchmarks.careful_person import CarefulPerson
from tests.benchmarks.clearing_time import fill, make_thousand

_SIZES = (10, 25, 50, 100, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One comment with its label and its score."""

    text: str
    is_spam: bool
    p_spam: float


Order = Callable[[list[Scored], random.Random], None]


def most_doubtful_first(rows: list[Scored], draw: random.Random) -> None:
    """Sort as the page does; of equals in no order."""
    draw.shuffle(rows)
    rows.sort(key=lambda one: abs(one.p_spam - 0.5))


def in_no_order(rows: list[Scored], draw: random.Random) -> None:
    """Leave them as they came."""
    draw.shuffle(rows)


def surest_first(rows: list[Scored], draw: random.Random) -> None:
    """Sort the other way round."""
    draw.shuffle(rows)
    rows.sort(key=lambda one: -abs(one.p_spam - 0.5))


def scan(inside: Sequence[Scored], band: Band, size: int, order: Order, seed: int) -> Counter[str]:
    """Return seconds, keys and what became of a band that one person goes through."""
    draw = random.Random(seed)
    person, found = CarefulPerson(draw=draw), Counter[str]()
    waiting = list(inside)
    draw.shuffle(waiting)
    alone = []
    for start in range(0, len(waiting), size):
        screen = waiting[start : start + size]
        order(screen, draw)
        ticked = person.scan([(one.text, _is_other(one, band)) for one in screen])
        left = [one for one, is_ticked in zip(screen, ticked, strict=True) if not is_ticked]
        draw.shuffle(left)
        n_checks = count_checks(len(left))
        found["let through"] += sum(_is_other(one, band) for one in left[n_checks:])
        found["checked"] += n_checks
        alone += [one for one, is_ticked in zip(screen, ticked, strict=True) if is_ticked]
        for one in left[:n_checks]:
            seen = person.look(one.text, is_spam=one.is_spam)
            found["caught"] += _is_other(one, band) and seen is one.is_spam
    for one in alone:
        person.look(one.text, is_spam=one.is_spam)
    found["others"] = sum(_is_other(one, band) for one in waiting)
    found["seconds"] = round(person.seconds)
    return found


def look_alone(inside: Sequence[Scored], band: Band, seed: int) -> Counter[str]:
    """Return the same for a person who looks at each alone."""
    person = CarefulPerson(draw=random.Random(seed))
    share = sum(one.is_spam for one in inside) / max(1, len(inside))
    seen = [person.look(one.text, is_spam=one.is_spam, share=share) for one in inside]
    let_through = sum(
        _is_other(one, band) and taken is not one.is_spam
        for one, taken in zip(inside, seen, strict=True)
    )
    others = sum(_is_other(one, band) for one in inside)
    return Counter({"let through": let_through, "others": others, "seconds": round(person.seconds)})


def _is_other(one: Scored, band: Band) -> bool:
    return one.is_spam is (band is Band.SINCERE)


def main() -> None:
    """Print a table for each band."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--others", type=float, default=3.0)
    given = parser.parse_args()
    services, labels = fill(make_thousand())
    cases = services.review.cases.find([CommentId(one) for one in labels])
    scored = [
        Scored(text=case.comment.text, is_spam=labels[case.comment.id], p_spam=case.verdict.p_spam)
        for case in cases
        if case.verdict
    ]
    for band in Band:
        inside = [
            one for one in scored if band.holds(one.p_spam) and len(one.text) <= MAX_SCANNED_CHARS
        ]
        held = sum(_is_other(one, band) for one in inside)
        print(f"\n{band}: {len(inside)} of {len(scored)}, {held} of the other kind", flush=True)
        print("| screen | order | minutes | other kind | let through | checked | caught |")
        print("|--:|---|--:|--:|--:|--:|--:|")
        orders = (most_doubtful_first, in_no_order, surest_first)
        for size, order in [(0, None), *((s, o) for s in _SIZES for o in orders)]:
            total = Counter[str]()
            for seed in range(given.times):
                draw = random.Random(-seed)
                rows = [
                    replace(one, is_spam=band is Band.SINCERE)
                    if draw.random() < given.others / 100
                    else one
                    for one in inside
                ]
                total.update(
                    scan(rows, band, size, order, seed) if order else look_alone(rows, band, seed)
                )
            mean = {name: number / given.times for name, number in total.items()}
            print(
                f"| {size or 'alone'} | {order.__name__.replace('_', ' ') if order else ''}"
                f" | {mean['seconds'] / 60:.1f} | {mean['others']:.1f} | {mean['let through']:.2f}"
                f" | {mean.get('checked', 0):.0f} | {mean.get('caught', 0):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
