"""Measures the search, the sender's panel and what they add to intake, on SQLite and PostgreSQL."""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from service.domain.case import Case
from service.domain.comment import Author, Comment, CommentId, Lane, Sender, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.search import SearchQuery, parse_search
from service.domain.site import Site
from service.domain.verdict import Outcome, WeighedSignal
from service.ports.comments import NewComment
from service.stores.migrations import migrate
from service.stores.sql import SqlStores, create_engine, sql_stores
from service.stores.sql.search import SqlCaseSearch
from service.web.pages.search.search_export import ExportForm, write_export
from tests.factories import NOW, make_comment, make_signal, make_verdict
from tests.servers import running_postgresql

SITES = tuple(SiteId(f"site-{n}") for n in range(10))
SIGNALS = ("bare_link", "too_fast", "many_links", "generic_praise", "own_detail")
SEARCHES = {
    "one common word": "w00012",
    "two words, one rare": "w00003 w08400",
    "site, outcome, undecided": "site outcome:spam decision:none",
    "phrase and author": '"w00004 w00005" author:name7',
    "domain and signal": "domain:shop17.com signal:too_fast",
    "rejected by somebody, a week": "decision:reject by:Ola from:2026-01-10 to:2026-01-16",
    "begins like many words": "w00",
    "finds nothing": "w00001 zzzzz",
}


def made(number: int, draw: random.Random) -> Comment:
    """Return a comment of some 340 characters: words as skewed as a language's."""
    words = [f"w{min(int(draw.paretovariate(0.7)), 50_000):05d}" for _ in range(46)]
    if number % 5 == 0:
        words.append(f"https://shop{draw.randrange(200)}.com/x")
    # One of them sent half of everything.
    who = 0 if number % 2 else draw.randrange(1, 20_000)
    return make_comment(
        " ".join(words),
        id=CommentId(f"c{number:07d}"),
        site_id=SITES[number % len(SITES)],
        received_at=NOW - timedelta(seconds=30 * (200_000 - number)),
        author=Author(name=f"Name{who % 100} W{who}"),
        sender=Sender(
            address_key=f"a{who:031d}", network_key=f"n{who // 3:031d}",
            email_key=f"e{who:031d}", name_key=f"m{who:031d}",
        ),
    )  # fmt: skip


def fill(stores: SqlStores, count: int) -> None:
    """Keep, judge, decide and take in."""
    draw = random.Random(5)
    for start in range(0, count, 1_000):
        lot = [made(n, draw) for n in range(start, start + 1_000)]
        stores.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in lot])
        stores.verdicts.add([judged(one, draw) for one in lot], audit=frozenset())
        for one in lot[::20]:
            stores.decisions.add(decided(one, draw))


def judged(comment: Comment, draw: random.Random):
    outcome = draw.choices(list(Outcome), (0.5, 0.1, 0.4))[0]
    signals = [make_signal(name) for name in draw.sample(SIGNALS, 3)]
    weighed = tuple(WeighedSignal(signal=s, weight=0.5, contribution=0.5) for s in signals)
    return make_verdict(comment.id, outcome, signals=weighed)


def decided(comment: Comment, draw: random.Random) -> Decision:
    return Decision(
        id=f"d{comment.id}", comment_id=comment.id, ruling=draw.choice(list(Ruling)),
        decided_by=draw.choice(["Ola", "Mara"]), decided_at=NOW,
    )  # fmt: skip


def timed(work: Callable[[], object], n: int) -> list[float]:
    """Return how long each of n runs took, in milliseconds, ascending."""
    took = []
    for _ in range(n):
        began = time.perf_counter()
        work()
        took.append(1_000 * (time.perf_counter() - began))
    return sorted(took)


def row(name: str, took: Sequence[float]) -> None:
    middle, high = took[len(took) // 2], took[min(len(took) - 1, int(len(took) * 0.95))]
    print(f"| {name} | {len(took)} | {middle:.1f} ms ({high:.1f}) |", flush=True)


def measure(engine: sa.Engine, count: int, n: int) -> None:
    """Print a table for one database."""
    stores = sql_stores(engine)
    for site_id in SITES:
        stores.sites.add(Site(id=site_id, name=f"Blog {site_id}", created_at=NOW))
    fill(stores, count)
    began = time.perf_counter()
    took = []
    while True:
        one = time.perf_counter()
        if not stores.search.index_due(limit=200):
            break
        took.append(1_000 * (time.perf_counter() - one))
    row(f"take 200 comments in, all in {time.perf_counter() - began:.0f} s", sorted(took))
    for name, line in SEARCHES.items():
        measure_search(stores.search, name, line, n)
    export_all(stores.search)
    draw = random.Random(5)
    lot = [made(n, draw) for n in range(40)]
    for name, some in (("sender of half of all", lot[1:2]), ("other senders", lot[::2])):
        each = iter(some * n)
        look_up = partial(stores.sender_records.look_up, site_ids=None)
        row(f"record of a sender: {name}", timed(lambda n=each, f=look_up: f(next(n)), n))


def export_all(search: SqlCaseSearch) -> None:
    """Print how long all comments take as CSV, and what memory that takes at most."""

    def everything() -> Iterator[Case]:
        cursor = None
        while True:
            page = search.find(SearchQuery(), site_ids=None, cursor=cursor, limit=250)
            yield from page.cases
            cursor = page.next_cursor
            if cursor is None:
                return

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    size = sum(len(part) for part in write_export(everything(), ExportForm.CSV))
    took = time.perf_counter() - began
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"| export of all, {size / 1e6:.0f} MB | 1 | {took:.0f} s, {more / 1024:.0f} MiB more |")


def measure_search(search: SqlCaseSearch, name: str, line: str, n: int) -> None:
    """Print what one search costs: a page, its number, the ids to decide."""
    site_ids = (SITES[3],) if line.startswith("site") else None
    query = parse_search(line.removeprefix("site "))
    page = partial(search.find, query, site_ids=site_ids, cursor=None, limit=25)
    count = partial(search.count, query, site_ids=site_ids, limit=10_001)
    ids = partial(search.ids, query, site_ids=site_ids, limit=5_000)
    row(f"{name}: page of 25", timed(page, n))
    row(f"{name}: counted, {count()}", timed(count, n))
    row(f"{name}: 5,000 ids", timed(ids, max(3, n // 5)))


def engines(which: str, folder: Path) -> Iterator[sa.Engine]:
    if which == "sqlite":
        yield create_engine(f"sqlite:///{folder / 'bench.db'}")
        return
    with running_postgresql() as server:
        yield create_engine(server.url)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comments", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--on", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for engine in engines(options.on, Path(folder)):
            migrate(engine)
            measure(engine, options.comments, options.runs)
            engine.dispose()


if __name__ == "__main__":
    main()
