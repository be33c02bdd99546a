"""Ranges and digests against what plain Python says."""

from __future__ import annotations

import pytest
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


@pytest.mark.parametrize("version", [4, 6])
@settings(deadline=None)
@given(data=st.data())
def test_look_ups_agree_with_the_naive_way(version, data):
    top = TOP4 if version == 4 else TOP6
    ranges = data.draw(spans(top))
    entries = EntryCollector()
    for start, end in ranges:
        (entries.add4 if version == 4 else entries.add6)(start, end)

    found = entries.compiled()
    compiled = found.ranges4 if version == 4 else found.ranges6

    asked = edges(ranges, top)
    truth = [any(start <= address <= end for start, end in ranges) for address in asked]
    assert [compiled.holds(address) for address in asked] == truth


@given(st.sets(st.text("abc.", max_size=6)), st.text("abc.", max_size=6))
def test_domains_are_found_exactly(listed, asked):
    entries = EntryCollector()
    for domain in listed:
        entries.add_domain(domain)

    assert entries.compiled().digests.holds(asked) is (asked in listed)
