"""Fine-tuning learns, and a run that was cut off ends as if it had not been."""

import hashlib
from dataclasses import replace

import pytest
import torch

from models.inputs import ModelInput
from tests.encoders import small_network
from training.data.training_examples import TrainingExample, Variation
from training.network.encoder import Network
from training.network.finetune import FineTuneConfig, fine_tune

pytestmark = pytest.mark.usefixtures("one_thread")

SEED = 11
ADVERTS = ("Buy cheap {} at https://{}.example/shop", "Best {} of the year, call us, {} for all")
REMARKS = ("Thanks, the {} was the trouble, {} is fine now", "Did you try the {} without the {}?")
THINGS = ("valve", "watch", "boiler", "loan", "river", "shoe", "table", "pill")


def make_training_examples() -> list[TrainingExample]:
    """Return 32 comments, half of them spam that promotes from its first word to its last."""
    pairs = [(THINGS[n], THINGS[-n - 1]) for n in range(8)]
    texts = [(text.format(*pair), text in ADVERTS) for text in ADVERTS + REMARKS for pair in pairs]
    return [
        TrainingExample(
            input=ModelInput(text=text),
            is_spam=is_spam,
            **{"promotion" if is_spam else "plain": ((0, len(text)),)},
        )
        for text, is_spam in texts
    ]


def make_config(**changes) -> FineTuneConfig:
    values = {"epochs": 2.0, "batch_size": 8, "save_every_steps": 2, "learning_rate": 5e-4}
    return FineTuneConfig(**(values | changes))


def tune(network, tokeniser, **changes) -> Network:
    values = {"training_examples": make_training_examples(), "config": make_config(), "seed": SEED}
    given = values | changes
    fine_tune(network, tokeniser, given.pop("training_examples"), given.pop("config"), **given)
    return network


def digest(network: Network) -> str:
    """Return a SHA-256 over all weights, to tell networks apart."""
    total = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        total.update(name.encode())
        total.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()


@pytest.fixture(scope="module")
def whole_run(tokeniser) -> str:
    """Return the digest of the network that a run without a break ends with."""
    return digest(tune(small_network(), tokeniser))


class CutOffError(Exception):
    """Raised in place of a power cut."""


def test_the_loss_falls(tokeniser):
    losses: list[float] = []

    tune(
        small_network(),
        tokeniser,
        config=make_config(epochs=6.0),
        on_progress=lambda progress: losses.append(progress.loss),
    )

    assert len(losses) == 24
    assert sum(losses[-4:]) < 0.6 * sum(losses[:4])


def test_a_run_that_was_cut_off_ends_with_the_same_weights(tokeniser, tmp_path, whole_run):
    checkpoint = tmp_path / "run.pt"
    told = []
    # Amid the second epoch.
    cut_at = 7

    def cut_off(progress):
        if progress.step == cut_at:
            raise CutOffError

    with pytest.raises(CutOffError):
        tune(small_network(), tokeniser, checkpoint=checkpoint, on_progress=cut_off)
    resumed = tune(small_network(), tokeniser, checkpoint=checkpoint, on_progress=told.append)

    assert [(p.step, p.steps) for p in told] == [(7, 8), (8, 8)]
    assert told[-1].seconds_left == 0.0
    assert digest(resumed) == whole_run
    # What is finished is not run again.
    told.clear()
    tune(small_network(), tokeniser, checkpoint=checkpoint, on_progress=told.append)
    assert told == []


def test_a_head_learns_only_from_what_is_known_to_it(tokeniser):
    untaught = small_network()
    unmarked = [replace(one, promotion=(), plain=()) for one in make_training_examples()]

    config = make_config(weight_decay=0.0, variation=Variation(glue_spam=0.0, glue_ham=0.0))
    taught = tune(small_network(), tokeniser, training_examples=unmarked, config=config)

    (after,), (before,) = taught.heads, untaught.heads
    assert not torch.equal(after.spam.weight, before.spam.weight)
    assert torch.equal(after.promotion.weight, before.promotion.weight)
