"""A training program for tests: small, quick, told by a folder what to do.

FAKE_TRAINING names the folder. There lies `report.json`; while `waits` lies there too it trains on,
`fails` makes it fail with these words, `exceeds` with too much memory. It says in `started` how it
was started, one line each time.
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

_STEPS = (("read", 0.1), ("fit", 0.5), ("compare", 0.9))


def main() -> None:
    """Behave as `python -m training.retrain` does, without learning anything."""
    parser = argparse.ArgumentParser()
    for name in ("--decisions", "--run", "--versions", "--current", "--memory-mb"):
        parser.add_argument(name, required=True)
    parser.add_argument("--data", nargs="+", default=[])
    parser.add_argument("--dry-run", action="store_true")
    given = parser.parse_args()
    told = Path(os.environ["FAKE_TRAINING"])
    _tell(told, given)
    for step, share in _STEPS:
        _say(Path(given.run), step, share)
        if step == "fit":
            _obey(told)
    _report(told, given)


def _tell(told: Path, given: argparse.Namespace) -> None:
    seen = {
        "pid": os.getpid(),
        "nice": os.nice(0),
        "threads": os.environ["OMP_NUM_THREADS"],
        "secrets": [name for name in os.environ if name.startswith("SLOPSIEVE_")],
        "mode": oct(Path(given.decisions).stat().st_mode & 0o777),
        "data": given.data,
    }
    with (told / "started").open("a") as file:
        file.write(json.dumps(seen) + "\n")


def _say(run: Path, step: str, share: float) -> None:
    state = {"step": step, "share_done": share}
    part = run / ".run.json"
    part.write_text(json.dumps({"state": "running", **state}))
    part.replace(run / "run.json")


def _obey(told: Path) -> None:
    if (told / "exceeds").exists():
        sys.exit(2)
    if (told / "fails").exists():
        sys.exit((told / "fails").read_text())
    while (told / "waits").exists():
        time.sleep(0.02)


def _report(told: Path, given: argparse.Namespace) -> None:
    run, versions = Path(given.run), Path(given.versions)
    report = json.loads((told / "report.json").read_text())
    report["used"] = len(Path(given.decisions).read_text().splitlines())
    if given.dry_run:
        report |= {"recommendation": None, "version": None, "seconds": 600}
    version = report["version"]
    if version and not (versions / version).exists():
        current = Path(given.current)
        shutil.copytree(current / (current / "CURRENT").read_text().strip(), versions / version)
    (run / "report.md").write_text("the texts of newly lost ham")
    (run / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main()
