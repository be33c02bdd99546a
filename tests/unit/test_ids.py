"""Identifiers that sort by time."""

from __future__ import annotations

import time

from service.ids import new_id


def test_ids_sort_by_the_time_they_were_made():
    first, made_at = new_id("c"), time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 <= made_at:
        pass

    later = new_id("c")

    assert first < later


def test_ids_carry_their_prefix_and_do_not_repeat():
    ids = {new_id("site") for _ in range(10_000)}

    assert len(ids) == 10_000
    assert {len(one) for one in ids} == {len("site_") + 26}
    assert all(one.startswith("site_") for one in ids)
