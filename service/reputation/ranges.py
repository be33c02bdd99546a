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
_LOW_64 = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges4:
    """IPv4 ranges: `starts` and `ends` (inclusive) are sorted uint32; no two ranges touch."""

    starts: memoryview
    ends: memoryview

    def holds(self, address: int) -> bool:
        """Return True if one of the ranges holds an address, given as a number."""
        at = bisect_right(self.starts, address) - 1
        return at >= 0 and bool(self.ends[at] >= address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges6:
    """IPv6 ranges, each bound cut into its upper and lower 64 bits; sorted, no two touch."""

    start_high: memoryview
    start_low: memoryview
    end_high: memoryview
    end_low: memoryview

    def holds(self, address: int) -> bool:
        """Return True if one of the ranges holds an address, given as a number."""
        high, low = address >> 64, address & _LOW_64
        at = bisect_right(self.start_high, high) - 1
        if at >= 0 and self.start_high[at] == high and self.start_low[at] > low:
            # Several ranges begin within these 64 bits, and the last begins behind the address.
            first = bisect_left(self.start_high, high, 0, at)
            at = bisect_right(self.start_low, low, first, at) - 1
        return at >= 0 and (self.end_high[at], self.end_low[at]) >= (high, low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """Sorted 64-bit digests of domain names.

    A name that is not listed is taken for one that is with a chance of 1 in 18 trillion for a
    list of a million names.
    """

    values: memoryview

    def holds(self, domain: str) -> bool:
        """Return True if a domain, in lower case and ASCII, is among them."""
        wanted = digest_of(domain)
        at = bisect_left(self.values, wanted)
        return at < len(self.values) and bool(self.values[at] == wanted)


def digest_of(domain: str) -> int:
    """Return the 64-bit digest (BLAKE2b) of a domain name."""
    raw = domain.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")


@dataclass(slots=True)
class EntryCollector:
    """Takes entries in as they are read, at the cost of their bytes: 8 or 32 a range."""

    starts4: array[int] = field(default_factory=lambda: array("I"))
    ends4: array[int] = field(default_factory=lambda: array("I"))
    bounds6: tuple[array[int], ...] = field(
        default_factory=lambda: tuple(array("Q") for _ in range(4))
    )
    digests: array[int] = field(default_factory=lambda: array("Q"))

    def __len__(self) -> int:
        """Return the number of imported entries."""
        return len(self.starts4) + len(self.bounds6[0]) + len(self.digests)

    def add4(self, start: int, end: int) -> None:
        """Take in the IPv4 addresses from `start` to `end`, both included."""
        self.starts4.append(start)
        self.ends4.append(end)

    def add6(self, start: int, end: int) -> None:
        """Take in the IPv6 addresses from `start` to `end`, both included."""
        for column, value in zip(
            self.bounds6,
            (start >> 64, start & _LOW_64, end >> 64, end & _LOW_64),
            strict=True,
        ):
            column.append(value)

    def add_domain(self, domain: str) -> None:
        """Take in a domain, in lower case and ASCII."""
        self.digests.append(digest_of(domain))

    def compiled(self) -> CompiledEntries:
        """Return all entries, sorted; ranges that overlap or touch become one."""
        # Sorting one number a range, not a pair of objects, is what keeps a million of them small.
        ranges4 = sorted(s << 32 | e for s, e in zip(self.starts4, self.ends4, strict=True))
        ranges6 = sorted(
            (sh << 64 | sl) << 128 | eh << 64 | el
            for sh, sl, eh, el in zip(*self.bounds6, strict=True)
        )
        starts, ends = array("I"), array("I")
        for start, end in _merged(ranges4, 32):
            starts.append(start)
            ends.append(end)
        bounds6 = tuple(array("Q") for _ in range(4))
        for start, end in _merged(ranges6, 128):
            values = (start >> 64, start & _LOW_64, end >> 64, end & _LOW_64)
            for column, value in zip(bounds6, values, strict=True):
                column.append(value)
        digests = array("Q", sorted(set(self.digests)))
        columns = (starts, ends, *bounds6, digests)
        return CompiledEntries.of_columns(tuple(map(memoryview, columns)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledEntries:
    """The entries of one list as they are looked up."""

    ranges4: Ranges4
    ranges6: Ranges6
    digests: Digests

    def columns(self) -> tuple[memoryview, ...]:
        """Return the arrays in a fixed order: two of uint32, then five of uint64."""
        four, six = self.ranges4, self.ranges6
        high_low = (six.start_high, six.start_low, six.end_high, six.end_low)
        return (four.starts, four.ends, *high_low, self.digests.values)

    @classmethod
    def of_columns(cls, columns: tuple[memoryview, ...]) -> CompiledEntries:
        """Return the entries of the arrays that `columns` gave."""
        starts, ends, start_high, start_low, end_high, end_low, digests = columns
        return cls(
            ranges4=Ranges4(starts=starts, ends=ends),
            ranges6=Ranges6(
                start_high=start_high, start_low=start_low, end_high=end_high, end_low=end_low
            ),
            digests=Digests(values=digests),
        )


def empty_column(item_format: ItemFormat) -> memoryview:
    """Return a column without items; an empty view cannot be cast to a format."""
    return memoryview(array(item_format))


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
