"""Prints what one fault of the disk, the database or Valkey does while comments are posted.

`python -m tests.benchmarks.fault_table "disk full" "read-only"`; without names all of them. Each
fault lasts at least 30 s, until `/readyz` and `slopsieve doctor` were asked.
"""

import argparse
import json
import os
import subprocess
import threading
import time
from collections import Counter

from tests.benchmarks.faults import DISK, Client, Faults, faulty_service
from tests.benchmarks.own_service import program

_LASTS_SECONDS = 30.0
_HEALS_SECONDS = 120.0


def main() -> None:
    """Observe the faults that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=[*DISK, "database locked", "valkey full"])
    kinds = parser.parse_args().kinds
    with faulty_service(bad_disk=True) as faults:
        for kind in kinds:
            _observe(kind, faults)


def _observe(kind: str, faults: Faults) -> None:
    """Post while the fault lasts and until all has healed; print what was seen."""
    client = faults.new_client(kind)
    until = threading.Event()
    fault = threading.Thread(target=faults.kinds()[kind], args=(until.wait,))
    began = time.monotonic()
    fault.start()
    with client.posting(rate=2.0):
        # A proof of a write lasts five seconds.
        time.sleep(6)
        unready, found = _unready(client), _doctor(faults)
        until.wait(max(0.0, began + _LASTS_SECONDS - time.monotonic()))
        until.set()
        fault.join()
        ended = time.monotonic()
        during, seconds = Counter(client.answers), sorted(client.seconds)
        while _unready(client) and time.monotonic() < ended + _HEALS_SECONDS:
            time.sleep(0.5)
        is_ready_after = time.monotonic() - ended
        time.sleep(3)
    quiet = faults.wait_until_quiet()
    served = min((at - ended for at in client.served_at if at > ended), default=None)
    print(f"\n{kind}, {ended - began:.0f} s")
    print(f"  answers meanwhile {dict(during.most_common())}")
    if seconds:
        half, last = seconds[len(seconds) // 2], seconds[-1]
        print(f"  seconds of those accepted: half {half:.1f}, longest {last:.1f}")
    print(f"  readyz {unready or 'all well'}\n  doctor {found or 'all well'}")
    print(f"  accepted again after {served}, ready after {is_ready_after}, quiet {quiet}")
    problems = {name: wrong for name, wrong in faults.problems(client).items() if wrong}
    print(f"  accepted {len(client.accepted)}, not well: {problems}", flush=True)


def _unready(client: Client) -> dict[str, str]:
    """Return the parts that are not ready according to `/readyz`."""
    _, said, _ = Client(client.url, client.key).call("GET", "/readyz")
    parts = said.get("parts", {"api": "no answer"})
    return {part: state for part, state in parts.items() if state != "ok"}


def _doctor(faults: Faults) -> list[str]:
    """Return the problems that `slopsieve doctor` finds on the same disk."""
    command = [program(), "doctor", "--json", "--data-dir", faults.up["data_dir"]]
    environment = {**os.environ, **faults.disk}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    found = map(json.loads, done.stdout.splitlines())
    return [
        f"{one['state']} {one['check']}: {one['finding']}" for one in found if one["state"] != "ok"
    ]


if __name__ == "__main__":
    main()
