"""A probability has as many digits as it takes to see on which side of a cutoff it lies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.edge.language import probability


@pytest.mark.parametrize(
    ("p", "written"),
    [
        (0.634, "63%"),
        (0.987, "98.7%"),
        (0.047, "4.7%"),
        (0.9999, ">99.9%"),
        (0.0001, "<0.1%"),
        (0.9995, "99.95%"),
        (1.0, ">99.9%"),
        (0.0, "<0.1%"),
    ],
)
def test_alone_it_has_few_digits_and_never_claims_certainty(p, written):
    assert probability(p) == written


@pytest.mark.parametrize(
    ("p", "cutoff", "written", "of_cutoff"),
    [
        (0.9977, 0.9981, "99.77%", "99.81%"),
        (0.9469, 0.95, "94.7%", "95.0%"),
        (0.99981, 0.99984, "99.981%", "99.984%"),
        (0.00031, 0.0002, "0.03%", "0.02%"),
        (0.5, 0.93, "50%", "93%"),
        (0.93, 0.93, "93%", "93%"),
    ],
)
def test_beside_a_cutoff_it_has_digits_enough_to_tell_them_apart(p, cutoff, written, of_cutoff):
    assert probability(p, beside=[cutoff]) == written
    assert probability(cutoff, beside=[p]) == of_cutoff


@given(st.integers(0, 100_000), st.integers(0, 100_000))
def test_two_that_differ_never_read_the_same(one, other):
    p, cutoff = one / 100_000, other / 100_000

    same = probability(p, beside=[cutoff]) == probability(cutoff, beside=[p])

    assert same == (one == other)
