"""Measures reputation lists: reading, memory and look-ups, side by side with the naive way."""

from __future__ import annotations

import argparse
import gzip
import ipaddress
import multiprocessing
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

from service.domain.comment import ListKind
from service.domain.errors import InvalidInputError
from service.reputation.about_list import AboutList
from service.reputation.lists import ParsedList, parse_list
from service.stores.files.list_files import open_list, write_list
from service.stores.files.reputation_lists import ListFolder

_RANGES = 1_000_000
_LOOK_UPS = 200_000
# A scan of a list of networks is so slow that a few look-ups, made up to the whole, must do.
_SCANS = 20
_MIB = 1024 * 1024


def synthetic(count: int, *, version: int) -> bytes:
    """Return the text of a list of this many different networks that do not touch, unsorted."""
    chosen = random.Random(7)
    if version == 4:
        # An address or a /25 within each /24, from 32.0.0.0 on.
        lines = [
            f"{32 + (n >> 16)}.{n >> 8 & 255}.{n & 255}.{'128/25' if n % 3 else '7'}\n"
            for n in range(count)
        ]
    else:
        lines = [f"2001:{n >> 16:x}:{n & 0xFFFF:x}::/48\n" for n in range(0, 2 * count, 2)]
    chosen.shuffle(lines)
    return "".join(lines).encode()


def main() -> None:
    """Print one table for made lists, and one for the files named, if any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranges", type=int, default=_RANGES)
    parser.add_argument("--files", nargs="*", type=Path, default=[])
    args = parser.parse_args()
    for version in (4, 6):
        print(f"\n{args.ranges:,} made IPv{version} networks")
        _report_made(synthetic(args.ranges, version=version), version)
    if args.files:
        _report_files(args.files)


def _report_made(text: bytes, version: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, source = Path(folder) / "made.list", Path(folder) / "made.txt"
        source.write_bytes(text)
        seconds, grown, parsed = _in_child(_compile, source, path)
        print(f"  read, compile, write   {seconds:8.2f} s   peak memory + {grown / _MIB:7.1f} MiB")
        print(f"  file                   {path.stat().st_size / _MIB:8.1f} MiB, {parsed:,} ranges")
        seconds, grown, _ = _in_child(_map, path, Path(folder))
        print(f"  map and check          {seconds:8.3f} s   peak memory + {grown / _MIB:7.1f} MiB")
        seconds, grown, _ = _in_child(_naive_set, source)
        print(f"  naive: set of networks {seconds:8.2f} s   peak memory + {grown / _MIB:7.1f} MiB")
        _report_look_ups(text, path, version)


def _report_look_ups(text: bytes, path: Path, version: int) -> None:
    _, entries = open_list(path)
    networks = [ipaddress.ip_network(line) for line in text.decode().split()]
    listed = set(networks)
    addresses = _asked(networks, version)
    ranges = entries.ranges4 if version == 4 else entries.ranges6
    numbers = [int(address) for address in addresses]
    found = sum(map(ranges.holds, numbers))
    rows = [("one by one, by number", _each(numbers, ranges.holds))]
    lists = ListFolder(path.parent)
    written = [str(address) for address in addresses]
    now = datetime.now(UTC)

    def at_intake(address: str) -> object:
        return lists.find(address=address, domains=(), mail_domain=None, at=now)

    assert sum(bool(at_intake(address)) for address in written) == found
    rows.append(("one by one, as at intake", _each(written, at_intake)))
    few = addresses[:2_000]
    bits = sorted({network.prefixlen for network in networks})
    rows.append(("naive: set, by each length", _each(few, lambda a: _in_set(a, listed, bits))))
    few = addresses[:_SCANS]
    rows.append(
        ("naive: scan of a list", _each(few, lambda a: any(a in n for n in networks), tries=1))
    )
    print(f"  {found:,} of {len(addresses):,} addresses looked up are listed")
    fastest = rows[0][1]
    for name, micros in rows:
        print(f"  {name:28} {micros:12.3f} us  {1e6 / micros:12,.0f}/s  x {micros / fastest:,.2f}")


def _asked(networks: list[ipaddress.IPv4Network], version: int) -> list[ipaddress.IPv4Address]:
    """Return addresses of which about half are listed."""
    chosen = random.Random(11)
    kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
    picked = (int(chosen.choice(networks)[0]) for _ in range(_LOOK_UPS))
    away = 200 if version == 4 else 1 << 80
    return [kind(start + (away if n % 2 else 0)) for n, start in enumerate(picked)]


def _in_set(address: ipaddress.IPv4Address, listed: set[object], bits: Iterable[int]) -> bool:
    return any(ipaddress.ip_network((address, n), strict=False) in listed for n in bits)


def _each(items: list, look_up: Callable, *, tries: int = 3) -> float:
    """Return the microseconds a look-up takes, the loop's own included; the best of some runs."""

    def all_of_them() -> None:
        for item in items:
            look_up(item)

    return _best(all_of_them, tries=tries) * _LOOK_UPS / len(items)


def _best(work: Callable[[], object], *, tries: int = 3) -> float:
    """Return the microseconds of processor time for one of `_LOOK_UPS`, the best of some runs."""
    spent = []
    for _ in range(tries):
        start = time.thread_time_ns()
        work()
        spent.append(time.thread_time_ns() - start)
    return min(spent) / 1_000 / _LOOK_UPS


def _in_child(work: Callable, *given: object) -> tuple[float, int, int]:
    """Run work in a process of its own; return seconds, growth of peak memory, its answer."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, *given))


def _measured(work: Callable, *given: object) -> tuple[float, int, int]:
    before = _peak_bytes()
    start = time.thread_time_ns()
    answer = work(*given)
    return (time.thread_time_ns() - start) / 1e9, _peak_bytes() - before, answer


def _peak_bytes() -> int:
    """Return the peak memory of this process; Linux's `ru_maxrss` starts with the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert found is not None
        return int(found[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _compile(source: Path, path: Path) -> int:
    with source.open("rb") as file:
        parsed = parse_list(file, ListKind.NETWORKS)
    write_list(path, _about(parsed, ListKind.NETWORKS), parsed.compiled)
    return len(parsed.compiled.ranges4) + len(parsed.compiled.ranges6)


def _map(path: Path, folder: Path) -> int:
    open_list(path)
    return len(list(folder.iterdir()))


def _naive_set(source: Path) -> int:
    with source.open() as file:
        return len({ipaddress.ip_network(line.strip()) for line in file})


def _about(parsed: ParsedList, kind: ListKind) -> AboutList:
    now = datetime.now(UTC)
    return AboutList(
        name="made",
        kind=kind,
        source="",
        listed_at=parsed.dated or now,
        imported_at=now,
        expires_at=now + timedelta(days=1),
        entries=parsed.entries,
        wrong_lines=parsed.wrong,
    )


def _report_files(files: list[Path]) -> None:
    print(f"\n{'file':52} {'kind':9} {'entries':>8} {'wrong':>6} {'ranges':>7} {'ms':>7} "
          f"{'KiB':>7} {'dated':>10}")  # fmt: skip
    for path in files:
        raw = path.read_bytes()
        text = gzip.decompress(raw) if path.suffix == ".gz" else raw
        for kind in (ListKind.NETWORKS, ListKind.DOMAINS):
            start = time.thread_time_ns()
            try:
                parsed = parse_list(BytesIO(text), kind)
            except InvalidInputError as refusal:
                last = str(refusal)
                continue
            millis = (time.thread_time_ns() - start) / 1e6
            print(_row(path, kind, parsed, millis))
            break
        else:
            print(f"{path.name:52} refused: {last[:140]}")


def _row(path: Path, kind: ListKind, parsed: ParsedList, millis: float) -> str:
    columns = parsed.compiled.columns()
    size = sum(column.nbytes for column in columns) / 1024
    kept = len(columns[0]) + len(columns[2]) + len(columns[6])
    dated = f"{parsed.dated:%Y-%m-%d}" if parsed.dated else "-"
    return (
        f"{path.name:52} {kind.value:9} {parsed.entries:8,} {parsed.wrong:6,} {kept:7,} "
        f"{millis:7.1f} {size:7.1f} {dated:>10}"
    )


if __name__ == "__main__":
    main()
