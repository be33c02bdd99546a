"""Decisions are taught beside comments that keep the network as it was."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import torch

from models.inputs import ModelInput
from models.transformer import WEIGHTS_FILE
from tests.factories import make_comment
from tests.tiny_version import TINY
from training.data.dataset import Example
from training.data.training_examples import TrainingExample
from training.network.finetune import fine_tune
from training.network.finetune_on_decisions import (
    DecisionsTuneConfig,
    count_steps,
    finetune_on_decisions,
    plan_batches,
    repeat_for_linear,
)
from training.network.from_version import load_from_version
from training.trust.weights import WeighedDecision

CONFIG = DecisionsTuneConfig()
HELD_SAME = [f"Did you drain the boiler before number {n}? The valve was stuck" for n in range(12)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def make_example(text, *, is_spam=False, number=0) -> Example:
    comment = make_comment(text, id=f"c{number}")
    return Example(comment=comment, is_spam=is_spam, source="site:s", post_key=f"p{number}")


def make_weighed(text, *, weight=1.0, number=0) -> WeighedDecision:
    return WeighedDecision(
        example=make_example(text, is_spam=True, number=number),
        weight=weight,
        decided_at=datetime(2026, 11, 1, tzinfo=UTC),
        newest=False,
        sample_weight=1.0,
        is_drawn=True,
    )


@pytest.fixture
def load(tiny_network):
    """Return what loads the tiny network anew."""
    xml, weights = tiny_network.read_bytes(), tiny_network.with_name(WEIGHTS_FILE).read_bytes()
    return lambda: load_from_version(xml, weights)


def digest(network) -> str:
    total = hashlib.sha256()
    for _, tensor in sorted(network.state_dict().items()):
        total.update(tensor.detach().contiguous().numpy().tobytes())
    return total.hexdigest()


def test_every_batch_mixes_decisions_with_what_is_replayed():
    batches, drawn = plan_batches(26, [50] * 5_000, CONFIG, seed=1)

    taught = [[i for i in batch if i < 26] for batch in batches]
    assert {len(batch) for batch in batches} == {CONFIG.batch_size}
    assert {len(some) for some in taught} == {CONFIG.decided_per_batch}
    assert len(set(drawn)) == len(drawn) == len(batches) * 16


def test_every_decision_is_taught_about_as_often_as_any_other():
    batches, _ = plan_batches(26, [50] * 5_000, CONFIG, seed=1)

    counts = [sum(batch.count(i) for batch in batches) for i in range(26)]

    assert max(counts) - min(counts) <= 1
    assert min(counts) >= CONFIG.passes - 1


def test_the_plan_comes_from_the_seed_alone():
    lengths = list(range(400))

    assert plan_batches(9, lengths, CONFIG, seed=1) == plan_batches(9, lengths, CONFIG, seed=1)
    assert plan_batches(9, lengths, CONFIG, seed=1) != plan_batches(9, lengths, CONFIG, seed=2)


@pytest.mark.parametrize(("decisions", "steps"), [(1, 30), (26, 65), (100_000, 100)])
def test_the_steps_are_bounded_however_much_was_decided(decisions, steps):
    assert count_steps(decisions, CONFIG) == steps


def test_the_linear_member_reads_a_decision_as_often_as_it_may_teach():
    training_examples = [
        make_weighed("full"),
        make_weighed("half", weight=0.5),
        make_weighed("hardly", weight=0.1),
    ]

    rows = repeat_for_linear([make_example("base")], training_examples, times=2.0)

    assert [e.comment.text for e in rows] == ["base", "full", "full", "half"]


def test_with_nothing_but_what_it_said_before_a_network_stays_the_same(load, tokeniser):
    network, served = load()
    before, _ = load()
    served.fake_quantise(network)
    untaught = digest(network)
    training_examples = [
        TrainingExample(input=ModelInput(text=text), as_before=True) for text in HELD_SAME
    ]

    fine_tune(
        network,
        tokeniser,
        training_examples,
        TINY.teach.fine_tune,
        seed=5,
        before=before,
        batches=[list(range(6)), list(range(6, 12))],
    )

    assert digest(network) == untaught


def test_what_is_taught_is_learnt_and_written_into_the_graph(load, tokeniser, tmp_path):
    network, served = load()
    before, _ = load()
    training_examples = [
        make_weighed(f"Meet my mentor {n} on the app, he doubled it", number=n) for n in range(4)
    ]
    losses = []

    finetune_on_decisions(
        network,
        served,
        before,
        tokeniser,
        training_examples,
        [make_example(t) for t in HELD_SAME],
        replace(TINY.teach, max_steps=12, min_steps=12),
        seed=5,
        checkpoint=tmp_path / "x.pt",
        tell=lambda p: losses.append(p.loss),
    )

    _, weights = served.write(network)
    assert losses[-1] < 0.8 * losses[0]
    assert weights != served.weights
    embeddings = served.places["encoder.embeddings.word_embeddings.weight"]
    start = embeddings.offset
    assert weights[start : start + 30_522 * 384] == served.weights[start : start + 30_522 * 384]
