"""Ranges and digests against what plain Python says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from service.reputation.ranges import EntryCollector

TOP4, TOP6 = 2**32 - 1, 2**128 - 1


def spans(top: int):
    """Return lists of ranges that often touch, overlap and lie at both ends."""
    point = st.one_of(
        st.integers(0, 40),
        st.integers(top - 40, top),
        st.integers(0, top),
        st.sampled_from([2**64 - 1, 2**64, 2**64 + 1]).map(lambda n: min(n, top)),
    )
    size = st.one_of(st.integers(0, 5), st.integers(0, top))
    return st.lists(st.builds(lambda a, n: (a, min(a + n, top)), point, size), max_size=30)


def edges(ranges, top):
    """Return every address at which an answer may change, and its neighbours."""
    near = {0, top} | {edge + by for span in ranges for edge in span for by in (-1, 0, 1)}
    return sorted(address for address in near if 0 <= address <= top)


@settings(deadline=None)
@given(spans(TOP4))
def test_ipv4_look_ups_agree_with_the_naive_way(ranges):
    entries = EntryCollector()
    for start, end in ranges:
        entries.add4(start, end)

    compiled = entries.compiled().ranges4

    asked = edges(ranges, TOP4)
    truth = [any(start <= address <= end for start, end in ranges) for address in asked]
    assert [compiled.holds(address) for address in asked] == truth


@settings(deadline=None)
@given(spans(TOP6))
def test_ipv6_look_ups_agree_with_the_naive_way(ranges):
    entries = EntryCollector()
    for start, end in ranges:
        entries.add6(start, end)

    compiled = entries.compiled().ranges6

    asked = edges(ranges, TOP6)
    truth = [any(start <= address <= end for start, end in ranges) for address in asked]
    assert [compiled.holds(address) for address in asked] == truth


@settings(deadline=None)
@given(spans(TOP4))
def test_merged_ranges_are_sorted_and_do_not_touch(ranges):
    entries = EntryCollector()
    for start, end in ranges:
        entries.add4(start, end)

    compiled = entries.compiled().ranges4

    bounds = list(zip(compiled.starts, compiled.ends, strict=True))
    assert all(start <= end for start, end in bounds)
    assert all(one[1] + 1 < other[0] for one, other in pairwise(bounds))


@given(st.sets(st.text("abc.", max_size=6)), st.text("abc.", max_size=6))
def test_domains_are_found_exactly(listed, asked):
    entries = EntryCollector()
    for domain in listed:
        entries.add_domain(domain)

    assert entries.compiled().digests.holds(asked) is (asked in listed)
