"""What a network learns from is planned before it learns, the same each time."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.unit.training.decided import make_example
from training.data.dataset import UnlabelledText
from training.data.rotation import RotationConfig
from training.network.finetune import FineTuneConfig
from training.network.tune import TuneConfig, plan_training_examples

ROTATION = RotationConfig(most_of_source=12)
CONFIG = TuneConfig(woven_texts=1, epochs=1.0, fine_tune=FineTuneConfig(batch_size=4))
EXAMPLES = [make_example(is_spam=n % 2 == 0, source="blog") for n in range(40)]
ADVERT = "Buy watches at https://watches.example now."
WOVEN = "The valve was stuck. " * 40


def plan(config=CONFIG, *, name="0", woven_at=420):
    text = WOVEN[:woven_at] + ADVERT + WOVEN[woven_at:]
    woven = UnlabelledText(text=text, promo_spans=((woven_at, woven_at + len(ADVERT)),))
    return plan_training_examples(EXAMPLES, range(30), [woven], config, ROTATION, name=name)


def test_the_plan_is_the_same_twice_and_another_for_another_name():
    assert plan() == plan()
    assert plan().batches != plan(name="1").batches


def test_what_teaches_comes_once_in_an_epoch_in_batches_of_the_size_asked():
    found = plan()

    counts = Counter(i for batch in found.batches for i in batch)

    # At most twelve of a label, one woven text, and nothing of the last ten.
    assert len(found.training_examples) == 12 + 12 + 1
    assert not {e.comment.text for e in EXAMPLES[30:]} & {
        one.input.text for one in found.training_examples
    }
    assert counts == dict.fromkeys(range(25), 1)
    assert sorted(map(len, found.batches)) == [1, 4, 4, 4, 4, 4, 4]


@pytest.mark.parametrize(
    ("epochs", "batches"), [(1e-6, 1), (0.5, 4), (1.0, 7), (1.5, 11), (2.0, 14)]
)
def test_a_share_of_an_epoch_is_so_many_batches_of_it(epochs, batches):
    assert len(plan(replace(CONFIG, epochs=epochs)).batches) == batches


@pytest.mark.parametrize("at", [0, 420, len(WOVEN)])
def test_what_was_woven_in_is_taught_as_promotion_and_what_is_around_it_as_plain(at):
    training_example = plan(woven_at=at).training_examples[-1]

    text = training_example.input.text
    ((start, end),) = training_example.promotion
    assert text[start:end] == ADVERT
    assert len(text) <= 350 + len(ADVERT) + 250
    assert training_example.plain == ((0, start), (end, len(text)))
    assert training_example.is_spam is None
