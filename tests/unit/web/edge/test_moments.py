"""Moments are read and written as RFC 3339 has them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from service.web.edge.fields import read_moment, write_moment


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_reads_back_the_same(moment):
    assert read_moment(write_moment(moment)) == moment


@pytest.mark.parametrize(
    "given_text",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01T13:00:00+01:00",
        "2026-03-01T12:00:00.000000001Z",
    ],
)
def test_every_spelling_of_a_moment_is_the_same_moment(given_text):
    assert read_moment(given_text) == datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "given_text",
    ["", "now", "2026-03-01T12:00:60Z", "2026-02-30T12:00:00Z", "٢٠٢٦-03-01T12:00:00Z"],
)
def test_anything_else_is_refused(given_text):
    with pytest.raises(PydanticCustomError):
        read_moment(given_text)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("0001-01-01T00:00:00.0+01:01", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59-23:00", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_moment_at_the_end_of_time_becomes_the_nearest_that_can_be_kept(written, kept):
    assert write_moment(read_moment(written)) == kept
