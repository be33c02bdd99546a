"""Measures judging with a version in the shadow and without, side by side, in processor time.

    python -m tests.benchmarks.bench_shadow_verdicts

One process, on SQLite, comments of `comment_mix` in batches of 64: each batch is judged, then the
shadow, the same version loaded once more, speaks of it in slices, as a worker lets it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from service.domain.comment import CommentId, Lane, SiteId
from service.domain.dataset_row import comment_from_row
from service.moderation.admin.sites import add_site
from service.moderation.judging.judge import judge_batch
from service.moderation.judging.shadow import judge_in_shadow
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.migrations import migrate
from service.stores.sql import create_engine, sql_stores
from service.tasks.idle_work import SLICE_SIZE
from tests.benchmarks.comment_mix import sample_records
from tests.benchmarks.judging_model import current_folder, load_judging_model
from tests.fakes import make_services, with_ports

_COMMENTS = 768
_BATCH = 64
_MS = 1000


@contextmanager
def on_sqlite(folder: str) -> Iterator[Services]:
    """Give services that keep comments, verdicts and shadow verdicts in a file, with a shadow."""
    engine = create_engine(f"sqlite:///{Path(folder, 'bench.db')}")
    migrate(engine)
    stores = sql_stores(engine)
    current = load_judging_model(current_folder())
    shadow = replace(load_judging_model(current_folder()), version="candidate")
    yield with_ports(
        make_services(judges=False),
        comments=stores.comments,
        verdicts=stores.verdicts,
        cases=stores.cases,
        sites=stores.sites,
        shadow_verdicts=stores.shadow_verdicts,
        audit_log=stores.audit_log,
        current_model=lambda: current,
        shadow_model=lambda: shadow,
    )
    engine.dispose()


def keep(services: Services, site_id: SiteId) -> list[CommentId]:
    """Keep the comments that are to be judged."""
    comments = [
        replace(comment_from_row(row), id=CommentId(services.common.new_id("com")), site_id=site_id)
        for row in sample_records(_COMMENTS)
    ]
    services.intake.comments.add([NewComment(comment=one, lane=Lane.BULK) for one in comments])
    return [one.id for one in comments]


def slices(ids: Sequence[CommentId]) -> Iterator[Sequence[CommentId]]:
    """Yield the ids in slices as a worker's idle time has them."""
    for start in range(0, len(ids), SLICE_SIZE):
        yield ids[start : start + SLICE_SIZE]


def main() -> None:
    """Print milliseconds of processor time a comment, and of one slice."""
    judging, shadowing, one_slice = [], [], []
    with (
        tempfile.TemporaryDirectory(prefix="slopsieve-bench-") as folder,
        on_sqlite(folder) as services,
    ):
        site, _ = add_site("Bench", services.common, actor="bench")
        ids = keep(services, site.id)
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            began = time.process_time()
            judge_batch(batch, services)
            judged = time.process_time()
            judging.append(_MS * (judged - began) / len(batch))
            for some in slices(batch):
                slice_began = time.process_time()
                judge_in_shadow(some, services)
                one_slice.append(_MS * (time.process_time() - slice_began))
            shadowing.append(_MS * (time.process_time() - judged) / len(batch))
    judge, shadow = statistics.median(judging[1:]), statistics.median(shadowing[1:])
    print(f"{len(ids)} comments, medians of {len(judging) - 1} batches, processor time")
    print(f"  judging                  {judge:.2f} ms a comment")
    print(
        f"  judging and the shadow   {judge + shadow:.2f} ms a comment ({1 + shadow / judge:.2f}x)"
    )
    print(
        f"  a slice of {SLICE_SIZE}             {statistics.median(one_slice):.0f} ms, "
        f"the longest {max(one_slice):.0f} ms"
    )


if __name__ == "__main__":
    main()
