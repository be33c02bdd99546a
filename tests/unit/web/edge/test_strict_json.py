"""JSON from strangers: what is read, what is refused, what the worst costs."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.edge.errors import UnreadableRequestError
from service.web.edge.strict_json import MAX_DEPTH, clean, parse

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


def test_neither_brackets_within_strings_nor_a_byte_order_mark_are_an_offence():
    value = {"text": "[" * 1_000 + '"' + "{" * 1_000 + "\\"}

    assert parse(b"\xef\xbb\xbf" + json.dumps(value).encode()) == value


def test_the_depth_is_bounded_exactly():
    assert parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert parse(b"[" + b"[]," * MAX_DEPTH + b"[]]")
    with pytest.raises(UnreadableRequestError):
        parse(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


_WORST = {
    "open": lambda size: b"[" * size,
    "escaped": lambda size: b'"' + b'\\"' * (size // 2),
    "cut escapes": lambda size: b'"\\' * (size // 2),
    "repeated": lambda size: b"{" + b'"a":1,' * (size // 6) + b'"a":1}',
    "digits": lambda size: b"1" * size,
}


@pytest.mark.parametrize("worst", _WORST.values(), ids=_WORST)
def test_the_worst_costs_steps_in_proportion_to_its_size(worst):
    short, long = _steps(worst(4_096)), _steps(worst(16_384))

    assert short > 0
    # Four times the size; were it the square, it would be sixteen times the steps.
    assert long <= 5 * short + 100


def _steps(raw: bytes) -> int:
    """Return the number of lines and calls that reading or refusing the body takes."""
    steps = 0

    def count(frame, event, arg):
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        clean(parse(raw))
    except UnreadableRequestError:
        pass
    finally:
        sys.settrace(before)
    return steps


def test_what_cannot_be_kept_is_replaced_everywhere_one_for_one():
    value = {"a\x00": ["\ud800", {"b": "x\x00y\udfff"}]}

    cleaned, problems = clean(value)

    assert cleaned == {"a\ufffd": ["\ufffd", {"b": "x\ufffdy\ufffd"}]}
    assert problems == []


def test_what_is_ambiguous_is_named_with_its_path():
    value = parse(b'{"a": [{"b": 1, "b": 2}, NaN], "a": 1, "a": [{"c": 1, "c": 2}, 1e400]}')

    _, problems = clean(value)

    assert [(p.field, p.problem) for p in problems] == [
        ("a", "occurs more than once"),
        ("a.0.c", "occurs more than once"),
        ("a.1", "is not a finite number"),
    ]
