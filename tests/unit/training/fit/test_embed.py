"""An embedding is fitted to a network, and leaves every answer about spam as it is."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.engine import Engine
from models.inputs import ModelInput
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from tests.tiny_version import TINY_DATA
from training.card.embedding_page import embedding_lines
from training.data.dataset import read_dataset
from training.data.partition import SEED, Partition, partition
from training.fit.embed import (
    check_same,
    embed_network,
    fit_projection,
    pooled_of,
)
from training.network.pooling import with_pooling

COMMENTS = [
    ModelInput(text="Thanks! Cheap valves at https://valves-and-more.shop"),
    ModelInput(text="The valve is behind the boiler. " * 60, post_title="Bleeding a radiator"),
    ModelInput(text=""),
]


@pytest.fixture(scope="module")
def parts() -> Partition:
    return partition(read_dataset(TINY_DATA), seed=SEED)


@pytest.fixture(scope="module")
def weights(tiny_network) -> bytes:
    return tiny_network.with_name(WEIGHTS_FILE).read_bytes()


@pytest.fixture(scope="module")
def pooling_network(tmp_path_factory, tiny_network) -> Path:
    """Return the tiny network with the output that pools its only layer."""
    folder = tmp_path_factory.mktemp("pooling")
    shutil.copy(tiny_network.with_name(WEIGHTS_FILE), folder)
    (folder / NETWORK_FILE).write_bytes(with_pooling(tiny_network.read_bytes(), layer=0))
    return folder / NETWORK_FILE


def test_a_network_is_given_an_embedding_that_its_facts_describe(
    tiny_network, weights, tokeniser, parts, pooling_network
):
    fit_on = parts.train[:80]

    made = embed_network(tiny_network.read_bytes(), weights, tokeniser, fit_on, parts, layer=0)

    assert made.network == pooling_network.read_bytes()
    (pooled,) = pooled_of(Engine(pooling_network), tokeniser, fit_on[:1])
    assert math.isclose(math.hypot(*made.projection.embed(pooled)), 1.0, abs_tol=1e-9)
    assert made.facts["fitted_on"] == 80
    assert made.facts["train"]["compared_with"] == sum(e.is_spam for e in fit_on)
    assert made.facts["test"]["compared_with"] == sum(e.is_spam for e in parts.test)
    assert "fitted on 80 comments" in "\n".join(embedding_lines(made.facts))


def test_too_few_comments_are_told(tiny_network, weights, tokeniser, parts):
    with pytest.raises(ValueError, match="more than 64 comments, got 64"):
        embed_network(
            tiny_network.read_bytes(), weights, tokeniser, parts.train[:64], parts, layer=0
        )


def test_a_network_that_answers_otherwise_is_refused(tiny_network, tokeniser, parts):
    class Louder(Engine):
        def read(self, windows):
            return [replace(one, spam=one.spam + 0.001) for one in super().read(windows)]

    with pytest.raises(ValueError, match=r"would answer 3 of 3 windows otherwise"):
        check_same(
            Engine(tiny_network), Louder(tiny_network), tokeniser, _of_one_window(tokeniser, parts)
        )


def _of_one_window(tokeniser, parts):
    return [e for e in parts.test if len(tokeniser.windows(e.input)) == 1][:3]


def test_a_network_answers_the_same_with_one_more_output(pooling_network, tiny_network, tokeniser):
    windows = [w for one in COMMENTS for w in tokeniser.windows(one)]

    before = Engine(tiny_network, threads=2).read(windows)
    after = Engine(pooling_network, threads=2).read(windows)

    for old, new in zip(before, after, strict=True):
        assert (new.spam, new.promotion, new.llm_voice) == (old.spam, old.promotion, old.llm_voice)
        assert old.pooled is None
        assert new.pooled is not None
        assert np.isfinite(np.asarray(new.pooled)).all()


def test_a_window_is_pooled_to_the_same_bits_alone_and_in_a_crowd(pooling_network, tokeniser):
    engine = Engine(pooling_network, threads=2)
    windows = [w for one in COMMENTS for w in tokeniser.windows(one)]

    together = engine.read(windows)

    assert [engine.read([window])[0] for window in windows] == together


def test_a_network_that_pools_already_stays_as_it_is(pooling_network):
    network = pooling_network.read_bytes()

    assert with_pooling(network) == network


def test_a_network_without_the_layer_is_refused(tiny_network):
    with pytest.raises(ValueError, match=r"lacks .*layer\.5"):
        with_pooling(tiny_network.read_bytes(), layer=5)


def test_a_projection_makes_all_directions_about_as_wide():
    rng = np.random.default_rng(5)
    pooled = rng.normal(size=(2_000, 80)) * np.linspace(1, 9, 80)

    projection = fit_projection(pooled)

    projected = (pooled - projection.mean) @ projection.matrix
    assert np.abs(projected.mean(axis=0)).max() < 1e-3
    assert 0.3 < projected.std(axis=0).min() <= projected.std(axis=0).max() < 1.01
