"""Evidence joined into a verdict: exact sums, half-open cutoffs, sentences a person understands."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.inputs import ModelOutput
from service.domain.verdict import Outcome, Span
from service.scoring.classifier import model_input
from service.scoring.conclude import decide, logistic
from service.scoring.explanation import explain, percent
from service.scoring.weights import SET_WEIGHTS, Cutoffs, Weights
from tests.factories import conclude_on, make_comment, make_signal

CUTOFFS = Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)
WEIGHTS = Weights(base=-0.3, model=0.8, signals={"shortened_link": 1.5, "shy": 0.01})


@pytest.mark.parametrize(
    ("p_spam", "outcome"),
    [
        (0.0, Outcome.HAM),
        (math.nextafter(0.1, 0), Outcome.HAM),
        (0.1, Outcome.UNSURE),
        (math.nextafter(0.9, 0), Outcome.UNSURE),
        (0.9, Outcome.SPAM),
        (1.0, Outcome.SPAM),
    ],
)
def test_the_unsure_band_is_half_open(p_spam, outcome):
    assert decide(p_spam, CUTOFFS, degraded=False) is outcome


_FINITE = st.floats(-50, 50)
# What is set by judgement may be held back.
_NAMES = st.sampled_from([*"abcdefgh", *SET_WEIGHTS])


@given(
    base=_FINITE,
    model=_FINITE,
    weights=st.dictionaries(_NAMES, _FINITE),
    strengths=st.dictionaries(_NAMES, st.floats(0.001, 1), max_size=12),
    output=st.none() | st.builds(ModelOutput, p_spam=st.floats(0, 1)),
)
def test_whatever_the_weights_the_verdict_adds_up(base, model, weights, strengths, output):
    verdict = conclude_on(
        *(make_signal(name, strength=strength) for name, strength in strengths.items()),
        output=output,
        weights=Weights(base=base, model=model, signals=weights),
    )

    total = verdict.base + verdict.model_contribution
    for weighed in verdict.signals:
        assert weighed.contribution == weighed.weight * weighed.signal.strength
        total += weighed.contribution
    assert verdict.score == total
    assert verdict.p_spam == logistic(total)


@pytest.mark.parametrize("log_odds", [-1e9, -800.0, 0.0, 800.0, 1e9])
def test_logistic_never_overflows(log_odds):
    assert 0.0 <= logistic(log_odds) <= 1.0


@pytest.mark.parametrize(("p_spam", "is_marked"), [(0.05, False), (0.4, True), (0.99, True)])
def test_promotion_is_marked_where_a_person_may_look(p_spam, is_marked):
    output = ModelOutput(p_spam=p_spam, promo_spans=((3, 9),))

    verdict = conclude_on(output=output)

    assert verdict.promo_spans == ((Span(start=3, end=9),) if is_marked else ())


def test_the_explanation_says_outcome_reasons_and_what_was_missing():
    verdict = conclude_on(make_signal(), make_signal("newcomer"), weights=WEIGHTS)

    sentences = explain(verdict)

    assert sentences[0] == "Left to a person: evidence is missing."
    assert "Contains a link (for spam, +1.50)." in sentences
    assert "Contains a link (recorded, not weighed)." in sentences
    assert sentences[-1] == "Missing: the classifier did not respond."
    assert [percent(p) for p in (0.9999, 0.96, 0.5, 0.04)] == [">99.9%", "96.0%", "50%", "4.0%"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Shop.Example.COM:8443/a?b", "shop.example.com"),
        ("shop.example.com/a", "shop.example.com"),
        ("shop.example.com//a", "shop.example.com"),
        ("https://user:pw@shop.example.com", "shop.example.com"),
        ("http://[::1", ""),
        ("", ""),
        ("not a url at all", ""),
    ],
)
def test_the_classifier_reads_the_host_of_the_authors_url(url, host):
    comment = make_comment()
    author = type(comment.author)(name="n", url=url)

    assert model_input(make_comment(author=author)).author_host == host
