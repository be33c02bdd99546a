"""An embedding is fitted to what a network pools."""

import math
from dataclasses import replace

import numpy as np
import pytest

from training.data.dataset import DEFAULT_DATA, Example, read_dataset
from training.fit.embed import fit_embedding, fit_projection, measure_meeting, pooled_of


@pytest.fixture(scope="module")
def examples() -> tuple[Example, ...]:
    return read_dataset([DEFAULT_DATA / "authored-t1.jsonl"]).examples


def test_an_embedding_is_fitted_that_its_facts_describe(tiny_engine, tokeniser, examples):
    projection, facts = fit_embedding(tiny_engine, tokeniser, examples[:80])

    (pooled,) = pooled_of(tiny_engine, tokeniser, examples[:1])
    assert math.isclose(math.hypot(*projection.embed(pooled)), 1.0, abs_tol=1e-9)
    assert facts["fitted_on"] == 80
    assert facts["compared_with"] == sum(e.is_spam for e in examples[:80])


def test_members_of_a_campaign_that_lie_together_are_found(examples):
    spam = [replace(e, campaign=None) for e in examples if e.is_spam][:40]
    spam[:6] = [replace(e, campaign=f"campaign {n % 2}") for n, e in enumerate(spam[:6])]
    rng = np.random.default_rng(2)
    centres = {f"campaign {n}": rng.normal(size=64) for n in range(2)}
    vectors = [centres.get(e.campaign or "", rng.normal(size=64)) for e in spam]

    found = measure_meeting(spam, [tuple(v / np.linalg.norm(v)) for v in vectors])

    assert (found["campaigns"], found["members"], found["pairs"]) == (2, 6, 6)
    assert found["found_at"]["0.01"] == 1.0


def test_a_projection_makes_all_directions_about_as_wide():
    rng = np.random.default_rng(5)
    pooled = rng.normal(size=(2_000, 80)) * np.linspace(1, 9, 80)

    projection = fit_projection(pooled)

    projected = (pooled - projection.mean) @ projection.matrix
    assert np.abs(projected.mean(axis=0)).max() < 1e-3
    assert 0.3 < projected.std(axis=0).min() <= projected.std(axis=0).max() < 1.01


def test_too_few_comments_are_told(tiny_engine, tokeniser, examples):
    with pytest.raises(ValueError, match="more than 64 comments, got 64"):
        fit_embedding(tiny_engine, tokeniser, examples[:64])
