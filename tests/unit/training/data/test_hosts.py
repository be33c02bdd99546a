"""Bare `.example` hosts get endings as real ones have, and what is marked stays marked."""

from __future__ import annotations

import random

import pytest

from training.data.hosts import made_up_host, with_real_hosts


def test_marks_move_along_with_the_hosts_before_them():
    text = "See mara.example first. Buy at luckspin.example today, or else."
    start = text.index("Buy")
    row = {"text": text, "promo_spans": [[start, start + 29]], "boundary": start, "id": "a"}

    changed = with_real_hosts(row)

    ((first, last),) = changed["promo_spans"]
    assert ".example" not in changed["text"]
    assert changed["text"][changed["boundary"] :].startswith("Buy at luckspin.")
    assert changed["text"][first:last].startswith("Buy at luckspin.")
    assert changed["text"].endswith(" today, or else.")


def test_the_ending_depends_on_the_host_alone():
    row = {"text": "at shop.example", "author_url": "https://Shop.example/x", "label": "spam"}

    one, other = with_real_hosts(row), with_real_hosts(row | {"label": "ham"})

    assert one["text"] == other["text"]
    assert one["author_url"].lower() == f"https://{one['text'].removeprefix('at ')}/x"


@pytest.mark.parametrize("text", ["for example.", "at example.com", "a.example.com", "an.exampleb"])
def test_what_is_no_bare_host_stays(text):
    row = {"text": text, "author_url": None}

    assert with_real_hosts(row) == row


def test_a_made_up_host_looks_like_one_and_follows_the_seed():
    hosts = [made_up_host(random.Random(seed)) for seed in range(200)]

    assert hosts == [made_up_host(random.Random(seed)) for seed in range(200)]
    assert len(set(hosts)) > 150
    assert all("." in host and " " not in host for host in hosts)
