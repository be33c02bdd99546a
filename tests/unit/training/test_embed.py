"""One command gives a version an embedding and leaves every answer about spam as it is."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from models.engine import Engine
from models.inputs import ModelInput
from models.registry import SHIPPED_DIR, load_version, read_current_name
from models.transformer import NETWORK_FILE, WEIGHTS_FILE
from training.dataset import DEFAULT_DATA
from training.embed import fit_projection, main
from training.pooling import with_pooling

SHIPPED = SHIPPED_DIR / read_current_name(SHIPPED_DIR)
COMMENTS = [
    ModelInput(text="Thanks! Cheap valves at https://valves-and-more.shop"),
    ModelInput(text="The valve is behind the boiler. " * 60, post_title="Bleeding a radiator"),
    ModelInput(text=""),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Return a version that the command made of the shipped one and promoted."""
    out = tmp_path_factory.mktemp("models")
    data = [str(DEFAULT_DATA / f"authored-t{n}.jsonl") for n in (1, 2)]
    asked = ["--version", str(SHIPPED), "--name", "again", "--out", str(out), "--promote"]
    assert main([*asked, "--no-own-data", "--data", *data]) == 0
    assert read_current_name(out) == "again"
    return out / "again"


@pytest.fixture(scope="module")
def pooling_network(tmp_path_factory, tiny_network) -> Path:
    """Return the tiny network with the output that pools its only layer."""
    folder = tmp_path_factory.mktemp("pooling")
    shutil.copy(tiny_network.with_name(WEIGHTS_FILE), folder)
    (folder / NETWORK_FILE).write_bytes(with_pooling(tiny_network.read_bytes(), layer=0))
    return folder / NETWORK_FILE


def test_the_new_version_says_the_same_of_spam(made):
    new, old = load_version(made), load_version(SHIPPED)

    answers = zip(
        new.classifier.score_batch(COMMENTS), old.classifier.score_batch(COMMENTS), strict=True
    )

    for one, other in answers:
        assert (one.p_spam, one.promo_spans, one.llm_voice) == (
            other.p_spam,
            other.promo_spans,
            other.llm_voice,
        )
        assert one.embedding is not None
        assert math.isclose(math.hypot(*one.embedding), 1.0, abs_tol=1e-9)
    assert (new.signal_weights, new.spam_cutoff) == (old.signal_weights, old.spam_cutoff)
    assert (made / WEIGHTS_FILE).read_bytes() == (SHIPPED / WEIGHTS_FILE).read_bytes()


def test_the_card_says_what_the_embedding_was_fitted_on(made):
    card = json.loads((made / "card.json").read_text("utf-8"))
    page = (made / "card.md").read_text("utf-8")

    assert card["version"] == "again"
    assert card["embedding"]["of"] == SHIPPED.name
    assert card["embedding"]["train"]["campaigns"] > 0
    assert page.startswith("# again\n")
    assert page.count("## Embedding") == 1


def test_too_few_comments_are_told(tmp_path, capsys):
    rows = (DEFAULT_DATA / "authored-t1.jsonl").read_text("utf-8").splitlines()[:40]
    (tmp_path / "authored-few.jsonl").write_text("\n".join(rows), "utf-8")
    asked = ["--version", str(SHIPPED), "--name", "few", "--out", str(tmp_path)]

    code = main([*asked, "--no-own-data", "--data", str(tmp_path / "authored-few.jsonl")])

    assert code == 1
    assert "more than 64 comments" in capsys.readouterr().err


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
