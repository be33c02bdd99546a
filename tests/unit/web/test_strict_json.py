"""JSON from strangers: what is read, what is refused, how long the worst takes."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.errors import UnreadableRequestError
from service.web.strict_json import MAX_DEPTH, clean, parse

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
    max_leaves=12,
)


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


@given(JSON_VALUES.filter(lambda v: _depth(v) <= MAX_DEPTH))
def test_whatever_json_can_say_is_read_as_it_is(value):
    assert parse(json.dumps(value).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")) == value


@given(st.binary(max_size=200))
def test_whatever_comes_is_read_or_refused(raw):
    try:
        value = parse(raw)
    except UnreadableRequestError:
        return
    cleaned, _ = clean(value)
    json.dumps(cleaned, allow_nan=False).encode()


def test_brackets_within_strings_do_not_count_as_depth():
    value = {"text": "[" * 1_000 + '"' + "{" * 1_000 + "\\"}

    assert parse(json.dumps(value).encode()) == value


@pytest.mark.parametrize("levels", [MAX_DEPTH, MAX_DEPTH + 1])
def test_the_depth_is_bounded_exactly(levels):
    raw = b"[" * levels + b"]" * levels
    refused = False

    try:
        parse(raw)
    except UnreadableRequestError:
        refused = True

    assert refused is (levels > MAX_DEPTH)


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 1_000_000,
        b"[],".join([b"["] + [b""] * 300_000),
        b'"' + b'\\"' * 500_000,
        b'"' * 1_000_000,
        b'"\\' * 500_000,
        b"{" + b'"a":1,' * 160_000 + b'"a":1}',
        b"-" * 1_000_000,
        b"1" * 1_000_000,
    ],
    ids=["open", "siblings", "escaped", "quotes", "cut escapes", "repeated", "minus", "digits"],
)
def test_a_mebibyte_of_the_worst_takes_no_second(raw):
    started = time.perf_counter()

    with contextlib.suppress(UnreadableRequestError):
        clean(parse(raw))

    assert time.perf_counter() - started < 1


def test_what_cannot_be_kept_is_replaced_everywhere_one_for_one():
    value = {"a\x00": ["\ud800", {"b": "x\x00y\udfff"}]}

    cleaned, problems = clean(value)

    assert cleaned == {"a\ufffd": ["\ufffd", {"b": "x\ufffdy\ufffd"}]}
    assert problems == []


def test_what_is_ambiguous_is_named_with_its_path():
    value = parse(b'{"a": [{"b": 1, "b": 2}, -Infinity], "a": [{"c": 1, "c": 2}, 1e400]}')

    _, problems = clean(value)

    assert [(p.field, p.problem) for p in problems] == [
        ("a", "occurs more than once"),
        ("a.0.c", "occurs more than once"),
        ("a.1", "is not a finite number"),
    ]


def test_a_byte_order_mark_is_no_offence():
    assert parse(b"\xef\xbb\xbf{}") == {}
