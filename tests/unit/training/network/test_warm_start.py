"""A training may go on from an earlier version's network, and knows what that one has learnt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from models.registry import SHIPPED_DIR, read_current_name
from tests.unit.training.decided import make_example
from training.data.partition import Partition
from training.network.warm_start import WarmStart, read_warm_start

SHIPPED = SHIPPED_DIR / read_current_name(SHIPPED_DIR)
NO_PARTS = Partition(train=(), calibration=(), test=(), dropped={})
PART_OF_IT = WarmStart(
    name="old",
    network=b"",
    weights=b"",
    tokeniser_json="",
    learnt=frozenset({"a-blog", "authored-t1"}),
    learnt_all=False,
)


@pytest.fixture
def old_version(tmp_path) -> Path:
    """Return a folder with the shipped network under a card of a version that kept parts back."""
    for name in ("network.xml", "network.bin", "tokenizer.json"):
        (tmp_path / name).write_bytes((SHIPPED / name).read_bytes())
    sources = {"train": {"a-blog": {}}, "calibration": {"b-blog": {}}, "test": {"c-blog": {}}}
    card = {
        "version": "old",
        "partition": {part: {"by_source": s} for part, s in sources.items()} | {"dropped": {}},
    }
    (tmp_path / "card.json").write_text(json.dumps(card), "utf-8")
    return tmp_path


def from_source(source: str):
    return make_example(is_spam=True, source=source)


def test_what_a_version_kept_back_it_has_not_learnt(old_version):
    found = read_warm_start(old_version)

    assert (found.name, found.learnt, found.learnt_all) == ("old", {"a-blog"}, False)


def test_a_version_that_left_sources_out_in_turn_has_learnt_them_all(old_version):
    card = json.loads((old_version / "card.json").read_text("utf-8"))
    (old_version / "card.json").write_text(json.dumps(card | {"rotation": {}}), "utf-8")

    found = read_warm_start(old_version)

    assert (found.learnt, found.learnt_all) == ({"a-blog", "b-blog", "c-blog"}, True)


def test_its_network_is_the_one_that_served(old_version):
    torch.manual_seed(1)
    network = read_warm_start(old_version).load()
    ids = torch.randint(5, 900, (2, 16))
    ones = torch.ones_like(ids)

    with torch.no_grad():
        first, second = network(ids, ones, ones), network(ids, ones, ones)

    assert network.encoder.config.num_hidden_layers == 3
    assert torch.equal(first[0], second[0])
    assert all(p.requires_grad for p in network.parameters())


def test_only_sources_that_it_never_saw_are_judged_by():
    examples = [from_source("a-blog"), from_source("new-blog")]

    assert PART_OF_IT.never_learnt(examples, NO_PARTS).tolist() == [False, True]


@pytest.mark.parametrize(("learnt_all", "judged"), [(False, True), (True, False)])
def test_authored_comments_are_judged_by_if_a_version_kept_them_back(learnt_all, judged):
    # Of t99 it knows nothing; but what is learnt from alone is no ground to judge by.
    kept, taught = from_source("authored-t1"), from_source("authored-t99")
    public = from_source("a-blog")
    parts = replace(NO_PARTS, test=(kept,), calibration=(public,), train=(taught,))
    version = replace(PART_OF_IT, learnt_all=learnt_all)

    found = version.never_learnt([kept, taught, public], parts)

    assert found.tolist() == [judged, False, False]


@pytest.mark.parametrize("missing", ["card.json", "network.xml", "network.bin", "tokenizer.json"])
def test_a_folder_that_is_no_version_is_refused_with_what_it_needs(old_version, missing):
    (old_version / missing).unlink()

    with pytest.raises(ValueError, match=r"it needs card\.json, network\.xml") as refused:
        read_warm_start(old_version)

    assert missing in str(refused.value).partition("(")[2]
