"""Prints what one fault of the disk, the database or Valkey does while comments are posted.

`python -m tests.benchmarks.fault_table "disk full" "read-only"`; without names all of them. Each
fault lasts at least 30 s, until `/readyz` and `slopsieve doctor` were asked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from service.cli import cli
from service.stores.sql import create_engine
from tests.benchmarks.faults import (
    DISK,
    Client,
    Faults,
    Receiver,
    account_for,
    add_own_site,
    make_bad_disk,
    set_disk,
    texts,
    wait_until_quiet,
)
from tests.benchmarks.own_service import data_dir, running

_LASTS_SECONDS = 30.0
_HEALS_SECONDS = 120.0
_QUIET_SECONDS = 180.0


class Table:
    """A running service whose faults are observed one after another."""

    def __init__(self, up: dict[str, Any], faults: Faults, key: str) -> None:
        """Observe the service that `up` describes."""
        self.up, self.faults, self.key = up, faults, key
        self.database = create_engine(f"sqlite:///{faults.data}/slopsieve.db")

    def observe(self, kind: str) -> None:
        """Post while the fault lasts and until all has healed; print what was seen."""
        until = threading.Event()
        fault = threading.Thread(target=self.faults.kinds()[kind], args=(until.wait,))
        client = Client(self.up["url"], self.key, name=f"{kind}-{random.randrange(10**6)}")
        posted = threading.Event()
        post = threading.Thread(
            target=client.post,
            args=(texts(),),
            kwargs={"rate": 2.0, "goes_on": lambda: not posted.is_set()},
        )
        began = time.monotonic()
        fault.start()
        post.start()
        # A proof of a write lasts five seconds.
        time.sleep(6)
        ready, found = self.ready(), self.doctor()
        until.wait(max(0.0, began + _LASTS_SECONDS - time.monotonic()))
        until.set()
        fault.join()
        ended = time.monotonic()
        during, seconds = Counter(client.answers), sorted(client.seconds)
        while not self.ready()[0] and time.monotonic() < ended + _HEALS_SECONDS:
            time.sleep(0.5)
        is_ready_after = time.monotonic() - ended
        time.sleep(3)
        posted.set()
        post.join(_QUIET_SECONDS)
        client.ended.set()
        quiet = wait_until_quiet(self.database, seconds=_QUIET_SECONDS)
        served = min((at - ended for at in client.served_at if at > ended), default=None)
        print(f"\n{kind}, {ended - began:.0f} s")
        print(f"  answers meanwhile {dict(during.most_common())}")
        if seconds:
            half, last = seconds[len(seconds) // 2], seconds[-1]
            print(f"  seconds of those accepted: half {half:.1f}, longest {last:.1f}")
        print(f"  readyz {ready[1] or 'all well'}\n  doctor {found or 'all well'}")
        print(f"  accepted again after {served}, ready after {is_ready_after}, quiet {quiet}")
        account = account_for(self.database, client, self.faults.receiver)
        print(f"  accepted {account.accepted}, not well: {account.faults()}", flush=True)

    def ready(self) -> tuple[bool, dict[str, str]]:
        """Return the answer of `/readyz`: whether all is ready, and the parts that are not."""
        _, said, _ = Client(self.up["url"], self.key).call("GET", "/readyz")
        parts = said.get("parts", {"api": "no answer"})
        missing = {part: state for part, state in parts.items() if state != "ok"}
        return not missing, missing

    def doctor(self) -> list[str]:
        """Return the problems that `slopsieve doctor` finds; this process has the bad disk."""
        command = ["doctor", "--json", "--data-dir", str(self.faults.data)]
        said = CliRunner().invoke(cli, command).stdout
        found = [json.loads(line) for line in said.splitlines()]
        return [
            f"{one['state']} {one['check']}: {one['finding']}"
            for one in found
            if one["state"] != "ok"
        ]


def main() -> None:
    """Observe the faults that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=[*DISK, "database locked", "valkey full"])
    kinds = parser.parse_args().kinds
    if "BAD_DISK_CONTROL" not in os.environ:
        with tempfile.TemporaryDirectory(prefix="slopsieve-disk-") as folder:
            disk = make_bad_disk(Path(folder, "control"), Path(folder))
            again = [sys.executable, "-m", "tests.benchmarks.fault_table", *kinds]
            sys.exit(subprocess.run(again, env=os.environ | disk, check=False).returncode)
    with _table() as table:
        for kind in kinds:
            table.observe(kind)


@contextmanager
def _table() -> Iterator[Table]:
    with (
        tempfile.TemporaryDirectory(prefix="slopsieve-table-") as folder,
        closing(Receiver()) as receiver,
    ):
        data = Path(data_dir(folder))
        control = Path(os.environ["BAD_DISK_CONTROL"])
        set_disk(control, 0, data)
        with running(folder, **receiver.settings()) as up:
            key = add_own_site(data, receiver)
            yield Table(up, Faults(up["pid"], data, receiver, control), key)


if __name__ == "__main__":
    main()
