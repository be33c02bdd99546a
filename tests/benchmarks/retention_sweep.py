"""Measures what forgetting old comments costs, and whether judging goes on beside it.

    python -m tests.benchmarks.retention_sweep --comments 200000
    python -m tests.benchmarks.retention_sweep --against ../other-checkout

Fills each database once, then lets half of the comments be too old. The sweep of old comments runs
in a process of its own, with a pause of some seconds in between, at first for one portion of 200
comments a time, then, with `--for`, for as long as a worker is given; beside it comments come in
one by one at a steady rate, and are loaded and judged in batches of what came in, by the store's
own calls. With `--against` the sweeps of another checkout take turns on the same database. Time of
intake counts from the moment at which a comment was due, so that who waits is not left out. In the
end all that is left to forget goes, and a few sweeps find nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa

from service.domain.comment import CommentId, Lane
from service.domain.site import Site
from service.domain.verdict import Outcome
from service.moderation.review.search import update_search_index
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.migrations import migrate
from service.stores.sql import create_engine, sql_stores
from tests.benchmarks.desk_load import (
    SHARES,
    SITES,
    authored_rows,
    database,
    made_comment,
    made_services,
    made_verdict,
    traits_of,
)
from tests.factories import NOW, make_comment, make_verdict

_HERE = Path(__file__).parents[2]
_PORTION = 1_000
_WARM = 10
# Kept to what every checkout has; prints a line of JSON for each run.
_SWEEPER = """
import json, sys, time
from dataclasses import fields
from datetime import datetime, timedelta
import sqlalchemy as sa
from service.moderation.privacy.prune import prune_comments
from service.stores.sql import create_engine, sql_stores
from tests.fakes import make_services

url, now, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
keep_days, pause, seconds = map(float, sys.argv[4:])
engine = create_engine(url)
stores = sql_stores(engine)
services = make_services(
    judges=False,
    clock=lambda: datetime.fromisoformat(now),
    **{f.name: getattr(stores, f.name) for f in fields(stores)},
)
held, statements = [], [0]
began = [0.0]
sa.event.listen(engine, "begin", lambda _: began.__setitem__(0, time.perf_counter()))
sa.event.listen(
    engine, "commit", lambda _: held.append(time.perf_counter() - began[0])
)
sa.event.listen(
    engine, "before_cursor_execute", lambda *_: statements.__setitem__(0, statements[0] + 1)
)
for _ in range(runs):
    held.clear()
    statements[0] = 0
    start = time.perf_counter()
    ends = start + seconds
    more = {"goes_on": lambda: time.perf_counter() < ends} if seconds else {}
    pruned = prune_comments(services, keep=timedelta(days=keep_days), keep_spam=None, **more)
    took = time.perf_counter() - start
    told = {"pruned": pruned, "seconds": took, "held": max(held), "statements": statements[0]}
    print(json.dumps(told), flush=True)
    time.sleep(pause)
"""


@dataclass(slots=True)
class Beside:
    """What came in and was judged: milliseconds of each comment, and of each batch."""

    intake: list[float] = field(default_factory=list)
    judging: list[float] = field(default_factory=list)


def fill(services: Services, n_comments: int, *, seed: int = 5) -> None:
    """Keep judged comments, 25 s apart, that can be found by their words."""
    draw = random.Random(seed)
    for site in SITES:
        services.common.sites.add(Site(id=site, name=f"Blog {site}", created_at=NOW))
    rows, outcomes = authored_rows(), list(SHARES)
    for first in range(0, n_comments, _PORTION):
        some = [made_comment(number, draw, rows) for number in range(first, first + _PORTION)]
        services.intake.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in some])
        drawn = draw.choices(outcomes, list(SHARES.values()), k=len(some))
        verdicts = [made_verdict(one, of, draw) for one, of in zip(some, drawn, strict=True)]
        not_ham = [one.comment_id for one in verdicts if one.outcome is not Outcome.HAM]
        services.judging.verdicts.add(
            verdicts, audit=frozenset(), traits=[traits_of(one) for one in not_ham]
        )
    update_search_index(services.review, goes_on=lambda: True)


@contextmanager
def coming_in(url: str, rate: float) -> Iterator[Beside]:
    """Keep comments one by one and judge them in batches while the block runs."""
    engine = create_engine(url)
    stores = sql_stores(engine)
    (site, *_) = stores.sites.all()
    beside, over, lock = Beside(), threading.Event(), threading.Lock()
    unjudged: list[CommentId] = []

    def index_due() -> None:
        due = time.perf_counter()
        while not over.is_set():
            due += 1 / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            new = make_comment("Bleed the radiator first. " * 12, site_id=site.id, received_at=NOW)
            stores.comments.add([NewComment(comment=new, lane=Lane.INTERACTIVE)])
            beside.intake.append((time.perf_counter() - due) * 1000)
            with lock:
                unjudged.append(new.id)

    def judge() -> None:
        while not over.is_set():
            with lock:
                batch, unjudged[:] = unjudged[:64], unjudged[64:]
            if not batch:
                time.sleep(0.02)
                continue
            began = time.perf_counter()
            found = stores.comments.load_unjudged(batch)
            made = [make_verdict(one.comment.id, judged_at=NOW) for one in found]
            stores.verdicts.add(made, audit=frozenset())
            beside.judging.append((time.perf_counter() - began) * 1000)

    threads = [threading.Thread(target=work) for work in (index_due, judge)]
    for one in threads:
        one.start()
    try:
        yield beside
    finally:
        over.set()
        for one in threads:
            one.join()
        engine.dispose()


def sweep(
    checkout: Path, url: str, runs: int, keep_days: float, *, pause: float, seconds: float
) -> list[dict[str, float]]:
    """Let another process forget, so many times, and return what it told of each."""
    given = (runs, keep_days, pause, seconds)
    done = subprocess.run(
        [sys.executable, "-c", _SWEEPER, url, NOW.isoformat(), *map(str, given)],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=checkout,
        check=True,
        capture_output=True,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def p(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of what is sorted."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def told(milliseconds: Sequence[float]) -> str:
    """Return n, median, 95th percentile and longest as cells of a table."""
    ordered = sorted(milliseconds)
    return (
        f"{len(ordered)} | {p(ordered, 0.5):.1f} ms | {p(ordered, 0.95):.1f} ms | "
        f"{ordered[-1]:.0f} ms"
    )


def explained(engine: sa.Engine, keep_days: float) -> str:
    """Return how the database finds what is old."""
    stores = sql_stores(engine)
    caught: list[tuple[str, object]] = []

    def catch(*event: object) -> None:
        caught.append((str(event[2]), event[3]))

    sa.event.listen(engine, "before_cursor_execute", catch)
    stores.personal_data.find_old(
        received_before=NOW - timedelta(days=keep_days), spam_only=False, limit=200
    )
    sa.event.remove(engine, "before_cursor_execute", catch)
    statement, given = caught[-1]
    # The event hands the parameters over untyped, as the driver had them.
    word = "EXPLAIN" if engine.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(f"{word} {statement}", given).all()  # type: ignore[arg-type]  # see above
    return "\n".join("    " + str(row[-1]) for row in rows)


def main() -> None:
    """Fill, sweep, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--comments", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=25, help="sweeps of a round")
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two sweeps")
    parser.add_argument(
        "--for", dest="seconds", type=float, default=0.0, help="seconds that a sweep goes on for"
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rate", type=float, default=20.0, help="comments a second")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--against", type=Path, help="another checkout, to take turns with")
    given = parser.parse_args()
    # Comments are 25 s apart, the 100,000th of them came in now.
    keep_days = 25 * (100_000 - given.comments / 2) / 86_400
    checkouts = [_HERE, *([given.against.resolve()] if given.against else [])]
    for kind in given.database or ["sqlite", "postgresql"]:
        with database(kind) as url:
            engine = create_engine(url)
            migrate(engine)
            began = time.perf_counter()
            fill(made_services(engine), given.comments)
            print(f"{kind}: filled in {time.perf_counter() - began:.0f} s", flush=True)
            if kind == "postgresql":
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as one:
                    one.exec_driver_sql("ANALYZE")
            print(explained(engine, keep_days))
            engine.dispose()
            alone = Beside()
            swept: dict[int, tuple[list[dict[str, float]], Beside]] = {
                place: ([], Beside()) for place in range(len(checkouts))
            }
            for _ in range(given.rounds):
                with coming_in(url, given.rate) as beside:
                    time.sleep(10)
                _add(alone, beside)
                for place, checkout in enumerate(checkouts):
                    with coming_in(url, given.rate) as beside:
                        swept[place][0].extend(
                            sweep(
                                checkout,
                                url,
                                given.runs,
                                keep_days,
                                pause=given.pause,
                                # An earlier checkout does one portion, whatever it is told.
                                seconds=0.0 if place else given.seconds,
                            )
                        )
                    _add(swept[place][1], beside)
            print(
                "\n| sweeps of | n | comments each | statements | a sweep | longest | "
                "longest transaction |"
            )
            print("|---|--:|--:|--:|--:|--:|--:|")
            for place, (sweeps, _) in swept.items():
                took = sorted(one["seconds"] * 1000 for one in sweeps)
                print(
                    f"| {'the other' if place else 'this'} | {len(sweeps)} | "
                    f"{sweeps[0]['pruned']} | {sweeps[0]['statements']} | {p(took, 0.5):.0f} ms | "
                    f"{took[-1]:.0f} ms | {max(one['held'] for one in sweeps) * 1000:.0f} ms |"
                )
            print(
                "\n| beside | one comes in: n | median | 95th | longest | a batch judged: n | "
                "median | 95th | longest |"
            )
            print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
            print(f"| nothing | {told(alone.intake)} | {told(alone.judging)} |")
            for place, (_, beside) in swept.items():
                name = "sweeps of the other" if place else "sweeps of this"
                print(f"| {name} | {told(beside.intake)} | {told(beside.judging)} |", flush=True)
            rest = sweep(_HERE, url, given.comments // 400, keep_days, pause=0.0, seconds=0.0)
            busy = [one for one in rest if one["pruned"]]
            idle = sorted(one["seconds"] * 1000 for one in rest if not one["pruned"])
            print(
                f"\nthe rest: {sum(one['pruned'] for one in busy):,.0f} comments in {len(busy)} "
                f"sweeps, {sum(one['seconds'] for one in busy):.1f} s; {len(idle)} sweeps found "
                f"nothing, in {p(idle, 0.5):.1f} ms (longest {idle[-1]:.1f} ms)\n",
                flush=True,
            )


def _add(to: Beside, more: Beside) -> None:
    to.intake += more.intake[_WARM:]
    to.judging += more.judging[_WARM:]


if __name__ == "__main__":
    main()
