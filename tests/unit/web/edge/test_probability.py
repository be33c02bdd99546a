"""A probability has as many digits as it takes to see on which side of a cutoff it lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.edge.language import probability


@pytest.mark.parametrize(
    ("p", "beside", "written"),
    [
        (0.634, (), "63%"),
        (0.047, (), "4.7%"),
        (0.9999, (), ">99.9%"),
        (0.9995, (), "99.95%"),
        (1.0, (), ">99.9%"),
        (0.9977, [0.9981], "99.77%"),
        (0.95, [0.9469], "95.0%"),
        (0.00031, [0.0002], "0.03%"),
        (0.93, [0.5, 0.93], "93%"),
        (0.2567567340002, [0.256756734], "26%"),
    ],
)
def test_it_has_no_more_digits_than_that_takes_and_never_claims_certainty(p, beside, written):
    assert probability(p, beside=beside) == written


@given(st.integers(0, 100_000), st.integers(0, 100_000))
def test_two_that_differ_never_read_the_same(one, other):
    p, cutoff = one / 100_000, other / 100_000

    same = probability(p, beside=[cutoff]) == probability(cutoff, beside=[p])

    assert same == (one == other)
