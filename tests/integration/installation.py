"""A whole installation for tests: a database, a Valkey and as many workers as wanted."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from service.domain.case import Case
from service.domain.comment import CommentId, Lane
from service.moderation.intake import sweep_stranded
from service.moderation.sites import add_site
from service.settings import load_settings
from service.stores.migrations import migrate
from service.wiring import Wired
from tests.commands import ROOT, until
from tests.factories import make_comment
from tests.fakes import submit_to

ODD = "tests.integration.odd_processes"
# A busy machine takes its time to start a process.
START_SECONDS = 60.0
_SWEEPS = 6
_SECONDS_A_SWEEP = 15.0


@dataclass
class Installation:
    """The parts of one installation; `close` ends them all."""

    folder: Path
    valkey_url: str
    batch_size: int = 64
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    minutes_ahead: int = 0

    def __post_init__(self) -> None:
        self.wired: Wired = Wired(
            load_settings(
                data_dir=self.folder,
                valkey_url=self.valkey_url,
                audit_share=0.0,
            )
        )
        migrate(self.wired.engine)
        self.services = self.wired.services
        self.site, [self.key] = add_site("Radiator blog", self.services, actor="test")

    def start_worker(self, seconds_a_batch: float) -> subprocess.Popen[bytes]:
        """Start the odd worker with this delay."""
        return self.start(ODD, "worker", str(seconds_a_batch), str(self.batch_size))

    def start(
        self, module: str, *arguments: str, says: str = "", **settings: str
    ) -> subprocess.Popen[bytes]:
        """Start a process of ours; wait until it writes a line that says this."""
        settings |= {
            "data_dir": str(self.folder),
            "valkey_url": self.valkey_url,
            "audit_share": "0",
        }
        environment = {f"SLOPSIEVE_{name.upper()}": value for name, value in settings.items()}
        with self.log.open("ab") as output:
            before = output.tell()
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=os.environ | environment,
                stderr=output,
            )
        self.workers.append(process)

        def said() -> bool:
            written = self.log.read_bytes()[before:].decode()
            assert says in written or process.poll() is None, written
            return says in written

        until(said, seconds=START_SECONDS)
        return process

    @property
    def log(self) -> Path:
        """Return the file that all processes write to."""
        return self.folder / "workers.log"

    def submit(self, texts: Sequence[str], lane: Lane = Lane.BULK) -> list[CommentId]:
        values = {"site_id": self.site.id, "received_at": self.services.clock()}
        comments = [make_comment(text, id=self.services.new_id("com"), **values) for text in texts]
        return [one.comment_id for one in submit_to(self.services, *comments, lane=lane)]

    def sweep_later(self) -> int:
        """Sweep as if another minute had passed; return how many were queued again."""
        self.minutes_ahead += 1
        ahead, now = timedelta(minutes=self.minutes_ahead), self.services.clock
        services = replace(self.services, clock=lambda: now() + ahead)
        return sweep_stranded(services)

    def judged(self, ids: Sequence[CommentId]) -> list[CommentId]:
        waiting = {a.comment.id for a in self.services.comments.load_unjudged(ids)}
        return [one for one in ids if one not in waiting]

    def await_verdicts(self, ids: Sequence[CommentId]) -> list[Case]:
        """Wait until every comment has its verdict and return the cases."""
        until(lambda: len(self.judged(ids)) == len(ids))
        return [self.services.cases.get(one) for one in ids]

    def sweep_until_judged(self, ids: Sequence[CommentId]) -> None:
        """Sweep now and then, as upkeep does, until every comment has its verdict.

        An id that Valkey hands out in the moment it goes down is in nobody's hands.
        """
        due = 0.0

        def judged() -> bool:
            nonlocal due
            if time.monotonic() >= due:
                self.sweep_later()
                due = time.monotonic() + _SECONDS_A_SWEEP
            return len(self.judged(ids)) == len(ids)

        until(judged, seconds=_SWEEPS * _SECONDS_A_SWEEP)

    def stored_verdicts(self, expected: int) -> int:
        """Return the number of stored verdicts by the workers' log, repeats included.

        Workers log after the commit, so it waits until the log has as many as expected.
        """

        def stored() -> int:
            return sum(map(int, re.findall(r"\bstored=(\d+)", self.log.read_text())))

        until(lambda: stored() >= expected)
        return stored()

    def close(self) -> None:
        """End the workers and give the connections back."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()
        self.wired.close()
