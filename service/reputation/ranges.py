"""Sorted ranges of addresses and digests of domains in flat arrays, looked up by bisection."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

# The formats of `array` and `memoryview`: uint32 and uint64.
ItemFormat = Literal["I", "Q"]
COLUMN_FORMATS: tuple[ItemFormat, ...] = ("I", "I", "Q", "Q", "Q", "Q", "Q")
_LOW_64 = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class CompiledEntries:
    """The entries of one list as they are looked up.

    `columns` are, in `COLUMN_FORMATS`: starts and ends (inclusive) of IPv4 ranges; the upper and
    lower halves of the starts of IPv6 ranges, then of their ends; digests of domains. They are
    sorted, and no two ranges touch.
    """

    columns: tuple[memoryview, ...]

    def holds(self, version: int, address: int) -> bool:
        """Return True if a range of this IP version holds an address, given as a number."""
        starts, ends, start_high, start_low, end_high, end_low, _ = self.columns
        if version == 4:
            at = bisect_right(starts, address) - 1
            return at >= 0 and bool(ends[at] >= address)
        high, low = address >> 64, address & _LOW_64
        at = bisect_right(start_high, high) - 1
        if at >= 0 and start_high[at] == high and start_low[at] > low:
            # Several ranges begin within these 64 bits, and the last begins behind the address.
            first = bisect_left(start_high, high, 0, at)
            at = bisect_right(start_low, low, first, at) - 1
        return at >= 0 and (end_high[at], end_low[at]) >= (high, low)

    def holds_domain(self, domain: str) -> bool:
        """Return True if a domain (lower case, ASCII) is listed; 1 in 18 trillion is mistaken."""
        digests, wanted = self.columns[-1], _digest_of(domain)
        at = bisect_left(digests, wanted)
        return at < len(digests) and bool(digests[at] == wanted)


def _digest_of(domain: str) -> int:
    raw = domain.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")


@dataclass(slots=True)
class EntryCollector:
    """Takes entries in as they are read, at the cost of their bytes: 8 or 32 a range."""

    _columns: tuple[array[int], ...] = field(
        default_factory=lambda: tuple(array(item_format) for item_format in COLUMN_FORMATS)
    )

    def __len__(self) -> int:
        return len(self._columns[0]) + len(self._columns[2]) + len(self._columns[-1])

    def add(self, version: int, start: int, end: int) -> None:
        """Take in the addresses of this IP version from `start` to `end`, both included."""
        if version == 4:
            self._columns[0].append(start)
            self._columns[1].append(end)
            return
        halves = (start >> 64, start & _LOW_64, end >> 64, end & _LOW_64)
        for column, value in zip(self._columns[2:6], halves, strict=True):
            column.append(value)

    def add_domain(self, domain: str) -> None:
        """Take in a domain, in lower case and ASCII."""
        self._columns[-1].append(_digest_of(domain))

    def compiled(self) -> CompiledEntries:
        """Return all entries, sorted; ranges that overlap or touch become one."""
        starts, ends, *halves, digests = self._columns
        # Sorting one number a range, not a pair of objects, is what keeps a million of them small.
        ranges4 = sorted(s << 32 | e for s, e in zip(starts, ends, strict=True))
        ranges6 = sorted(
            (sh << 64 | sl) << 128 | eh << 64 | el for sh, sl, eh, el in zip(*halves, strict=True)
        )
        merged = EntryCollector()
        for version, ranges, bits in ((4, ranges4, 32), (6, ranges6, 128)):
            for start, end in _merged(ranges, bits):
                merged.add(version, start, end)
        merged._columns[-1].extend(sorted(set(digests)))
        return CompiledEntries(tuple(map(memoryview, merged._columns)))


def _merged(ranges: list[int], bits: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of the ranges, merged and sorted; each is given as start << bits | end."""
    opened, closed = -1, -2
    low = (1 << bits) - 1
    for packed in ranges:
        start, end = packed >> bits, packed & low
        if start > closed + 1:
            if opened >= 0:
                yield opened, closed
            opened, closed = start, end
        else:
            closed = max(closed, end)
    if opened >= 0:
        yield opened, closed
