"""The contract that every detector keeps, on its examples, on any comment and on hostile texts."""

import sys
import time
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime
from typing import get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.domain.comment import Comment, Listing
from service.domain.sender import History, TrackRecord
from service.domain.verdict import Signal
from service.signals.detectors import DETECTORS, detect_all
from tests.contract.detector_examples import EXAMPLES
from tests.factories import make_comment

each_detector = pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.name)

_KIB_64 = 65_536
# Pieces that make naive patterns crawl, repeated to the size of the longest text or beyond.
_WORST_PIECES = (
    "a", " ", "\n", ".", "a.", "a-", "a@", "[", "[a](", "<a ", "<a href=", "[url=", "http://",
    "http://a.bet/)", "1 ", "1-", "+1 (", "`", "> \n", "\u200b", "aа", "𝐚", "a ", "buy now! ",
    "I'm ", "the . ", "网址。", "great post thanks ", "check out my ", "great article about ",
    "http://a.bet/?url=http://b.bet&", "The line goes on for more than forty-five letters\nand ",
    "http://xn--a.bet ", "[a loan](http://a.bet) ",
)  # fmt: skip


# Lone halves of surrogate pairs too: an imported file may hold them.
_CHARACTERS = st.characters(exclude_categories=())
_PIECES = st.sampled_from(
    [
        "https://a-b.shop/x", "//", "http://[::1", "[a](http://b.com)", "<a href='//c.org'>",
        "[url=x.ru]", "@", "x@mailinator.com", "\x00", "\ud800", "\u200b", "\u202e", "ﷺ", "İ",
        "ß", "а", "𝒷", "。", ".", " ", "\n", "+44 7700 900123", "cheap loans", "9" * 30,
        "</a>", "😀", "\t", "dot com", "I am Joe", "```",
        "great post", "> ", "(", ")", "! ",
    ]
)  # fmt: skip
_TEXTS = st.one_of(st.text(_CHARACTERS, max_size=200), st.lists(_PIECES, max_size=20).map("".join))
_COUNTS = st.one_of(
    st.sampled_from([0.0, 5e-324, 1e-9, 0.5, 1.0, 1e18, sys.float_info.max]),
    st.floats(min_value=0.0, allow_nan=False, allow_infinity=False),
)
_SEEN = st.sampled_from([0, 1, 2, 30, 10_000, 2**31, 2**63])


class _Drawn(dict):
    """Strategies by type; one that is not given draws every field of a class by its type."""

    def __missing__(self, kind):
        self[kind] = found = st.deferred(lambda: self._find(kind))
        return found

    def _find(self, kind):
        if get_origin(kind) is tuple:
            return st.lists(self[get_args(kind)[0]], max_size=4).map(tuple)
        if get_args(kind):
            return st.one_of(*(self[one] for one in get_args(kind)))
        return st.builds(kind, **self.of(kind)) if is_dataclass(kind) else st.from_type(kind)

    def of(self, kind):
        """Return a strategy for each field of a class."""
        return {name: self[hint] for name, hint in get_type_hints(kind).items()}


_IN_HISTORIES = _Drawn({float: _COUNTS, int: _SEEN})
_IN_HISTORIES[TrackRecord] = st.just(TrackRecord()) | st.builds(
    TrackRecord, **_IN_HISTORIES.of(TrackRecord)
)
_IN_COMMENTS = _Drawn(
    {
        str: _TEXTS,
        float: st.floats(allow_nan=False),
        datetime: st.datetimes(timezones=st.just(UTC)),
    }
)
_WORTH = {"worth": st.none() | st.floats(0.0, 1.0)}
_IN_COMMENTS[Listing] = st.builds(Listing, **(_IN_COMMENTS.of(Listing) | _WORTH))
_FIELDS = _IN_COMMENTS.of(Comment)
# Nothing but its types holds back what a site sends.
_COMMENTS = st.builds(
    make_comment,
    **{name: _FIELDS[name] for name in _FIELDS.keys() - {"id", "site_id", "received_at"}},
)


def test_every_detector_has_a_name_of_its_own_and_examples():
    names = [detector.name for detector in DETECTORS]

    assert len(names) == len(set(names))
    assert set(names) == set(EXAMPLES)
    assert min(len(one.fires_on) for one in EXAMPLES.values()) >= 3
    assert min(len(one.silent_on) for one in EXAMPLES.values()) >= 3


@each_detector
def test_is_silent_on_its_ham_twins(detector):
    twins = EXAMPLES[detector.name].silent_on

    assert [one for one in twins if detector(one.comment, one.history)] == []


@each_detector
def test_fires_on_its_examples_and_says_where_and_why(detector):
    for example in EXAMPLES[detector.name].fires_on:
        signal = detector(example.comment, example.history)

        assert signal is not None
        assert signal.name == detector.name
        assert all(span.end <= len(example.comment.text) for span in signal.spans)
        assert signal.spans == tuple(sorted(signal.spans, key=lambda s: s.start))
        quoted = [
            w for w in example.comment.text.split() if len(w) > 9 and w in signal.reason.split()
        ]
        assert quoted == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(comment=_COMMENTS, history=_IN_HISTORIES[History])
def test_nothing_raises_spans_lie_inside_the_text_and_twice_is_the_same(comment, history):
    signals = detect_all(comment, history)

    assert all(0.0 < signal.strength <= 1.0 for signal in signals)
    assert all(
        0 <= span.start < span.end <= len(comment.text)
        for signal in signals
        for span in signal.spans
    )
    assert detect_all(comment, history) == signals


@pytest.mark.parametrize("piece", _WORST_PIECES, ids=ascii)
def test_all_take_64_kib_of_a_worst_case_in_their_stride(piece):
    text = (piece * (_KIB_64 // len(piece) + 1))[:_KIB_64]
    comment = make_comment(text)
    started = time.process_time()

    detect_all(comment, History())

    # What the processor did, not what the clock says: a busy machine makes nothing quadratic.
    assert time.process_time() - started < 3


# Each changes its length, or vanishes, where a text is brought into normal form.
_CHANGING_LENGTH = (
    "ﷺ ﷺ ﷺ.\n\n",
    "İ İ İ.\n\n",
    "a\u200bb\u200bc d.\n\n",
    "𝒷𝒷 𝒷.\n\n",
    "e\u0301e\u0301.\n\n",
    "&amp;&lt; ok.\n\n",
)


def marked(text: str, signal: Signal | None) -> set[str]:
    return {text[span.start : span.end] for span in signal.spans} if signal else set()


@pytest.mark.parametrize("opening", _CHANGING_LENGTH, ids=ascii)
def test_the_same_characters_are_marked_behind_letters_that_change_their_length(opening):
    for detector in DETECTORS:
        for example in EXAMPLES[detector.name].fires_on:
            comment = example.comment
            longer = replace(comment, text=opening + comment.text)
            found = detector(longer, example.history)

            # What stands before it may silence a detector, but not shift what it marks.
            if found is not None:
                before = marked(comment.text, detector(comment, example.history))
                assert before <= marked(longer.text, found), detector.name
