"""What is counted about boundaries: how near, how often, and of whom for nothing."""

from dataclasses import replace

import pytest

from models.inputs import ModelOutput
from service.domain.comment import Post
from tests.factories import make_comment
from training.data.dataset import Example
from training.fit.boundaries import FoundBoundaries, compare_boundaries

REMARK = "The order matters more than people think. You explain it well. "
ADVERT = "Buy radiator valves 70% OFF, free delivery, order at valvehaus-deals.shop hurry!"
COMMENT = make_comment(REMARK + ADVERT, post=Post(title="Bleeding a radiator"))
MARKED = ModelOutput(p_spam=0.98, promo_spans=((len(REMARK), len(COMMENT.text)),))
QUIET = make_comment("I bled ours last week. It took ten minutes.")


def example(**changes):
    values = {"comment": COMMENT, "is_spam": True, "source": "authored-x", "post_key": "p"}
    return Example(**(values | changes))


@pytest.mark.parametrize(
    ("known", "near", "exact"),
    [
        (len(REMARK), 1, 1),
        (COMMENT.text.index("You"), 1, 0),
        (COMMENT.text.index("The"), 0, 0),
        (COMMENT.text.index("70%"), 1, 0),
    ],
)
def test_nearness_is_counted_in_sentences_and_words(known, near, exact):
    found = compare_boundaries([example(boundary=known)], [MARKED])

    assert (found.n, found.within_one_sentence, found.exact) == (1, near, exact)


def test_only_spam_whose_boundary_is_known_and_ham_count():
    silent = ModelOutput(p_spam=0.02)
    told = [
        (example(boundary=len(REMARK)), MARKED),
        (example(comment=QUIET, boundary=23), silent),
        (example(boundary=None), MARKED),
        (example(is_spam=False), MARKED),
        (example(is_spam=False, comment=replace(QUIET)), silent),
    ]

    found = compare_boundaries([e for e, _ in told], [o for _, o in told])

    assert found == FoundBoundaries(n=2, within_one_sentence=1, exact=1, n_ham=2, ham_with_one=1)
