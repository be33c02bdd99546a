"""What holds for every detector on any comment, any sender and any history, extremes included."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.domain.comment import Author, Comment, FormEvidence, Listing, ListKind, Post, Sender
from service.domain.form import FormBehaviour, FormToken
from service.domain.history import Conduct, History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.registry import DETECTORS, detect_all
from tests.contract.test_detectors import comment_of
from tests.factories import make_comment

each_detector = pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.name)

# Lone halves of surrogate pairs too: an imported file may hold them.
_CHARACTERS = st.characters(exclude_categories=())
_PIECES = st.sampled_from(
    [
        "https://a-b.shop/x", "//", "http://[::1", "[a](http://b.com)", "<a href='//c.org'>",
        "[url=x.ru]", "@", "x@mailinator.com", "\x00", "\ud800", "\u200b", "\u202e", "ﷺ", "İ",
        "ß", "а", "𝒷", "。", ".", " ", "\n", "+44 7700 900123", "cheap loans", "9" * 30,
    ]
)  # fmt: skip
_TEXTS = st.one_of(st.text(_CHARACTERS, max_size=200), st.lists(_PIECES, max_size=20).map("".join))
_COUNTS = st.one_of(
    st.sampled_from([0.0, 5e-324, 1e-9, 0.5, 1.0, 1e18, sys.float_info.max]),
    st.floats(min_value=0.0, allow_nan=False, allow_infinity=False),
)
_SEEN = st.sampled_from([0, 1, 2, 30, 10_000, 2**31, 2**63])
_NUMBERS = st.floats(allow_nan=False)
_RECORDS = st.builds(Record, approved=_COUNTS, rejected=_COUNTS, seen_hour=_SEEN, seen_day=_SEEN)
_TRACK_RECORDS = st.builds(TrackRecord, here=_RECORDS, everywhere=_RECORDS)
_CONDUCTS = st.builds(
    Conduct,
    quiet_days=_SEEN,
    remarks=_SEEN,
    offers=_SEEN,
)
_HISTORIES = st.builds(
    History,
    conduct=st.none() | _CONDUCTS,
    **dict.fromkeys(
        (name for name in History.__dataclass_fields__ if name != "conduct"),
        st.one_of(st.just(TrackRecord()), _TRACK_RECORDS),
    ),
)


def _maybe(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.none(), values)


_LISTINGS = st.builds(Listing, list_name=_TEXTS, kind=st.sampled_from(ListKind), age_days=_NUMBERS)
_PLAIN_SENDERS = st.builds(
    Sender,
    address_key=_maybe(_TEXTS),
    network_key=_maybe(_TEXTS),
    wide_network_key=_maybe(_TEXTS),
    system=_maybe(st.integers()),
    email_key=_maybe(_TEXTS),
    email_domain=_maybe(_TEXTS),
    name_key=_maybe(_TEXTS),
    listings=st.lists(_LISTINGS, max_size=4).map(tuple),
)
_SENDERS = st.one_of(
    _PLAIN_SENDERS, st.builds(Sender, address_key=_TEXTS, before_rotation=_PLAIN_SENDERS)
)


@st.composite
def comments(draw: st.DrawFn) -> Comment:
    """Draw a comment that nothing but its types holds back."""
    return make_comment(
        draw(_TEXTS),
        post=draw(
            st.builds(Post, url=_maybe(_TEXTS), title=_maybe(_TEXTS), excerpt=_maybe(_TEXTS))
        ),
        author=draw(
            st.builds(
                Author,
                name=_maybe(_TEXTS),
                url=_maybe(_TEXTS),
                account_id=_maybe(_TEXTS),
                account_age_days=_maybe(st.integers()),
                trust_level=_maybe(st.integers()),
            )
        ),
        sender=draw(_SENDERS),
        form=draw(
            st.builds(
                FormEvidence,
                seconds_on_page=_maybe(_NUMBERS),
                honeypot_filled=_maybe(st.booleans()),
                behaviour=_maybe(
                    st.builds(
                        FormBehaviour,
                        seconds=_maybe(_NUMBERS),
                        keys=_maybe(st.integers()),
                        pastes=_maybe(st.integers()),
                        other_inputs=_maybe(st.integers()),
                        pointer=_maybe(st.integers()),
                        touch=_maybe(st.integers()),
                        scroll=_maybe(st.integers()),
                        driven=_maybe(st.booleans()),
                    )
                ),
                token=_maybe(st.sampled_from(FormToken)),
            )
        ),
        written_at=draw(_maybe(st.datetimes(timezones=st.just(UTC)))),
        language=draw(_maybe(_TEXTS)),
        user_agent=draw(_maybe(_TEXTS)),
        reply_to=draw(_maybe(_TEXTS)),
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(comment=comments(), history=_HISTORIES)
def test_nothing_raises_and_every_span_lies_inside_the_text(comment, history):
    signals = detect_all(comment, history)

    assert all(0.0 < signal.strength <= 1.0 for signal in signals)
    assert all(
        0 <= span.start < span.end <= len(comment.text)
        for signal in signals
        for span in signal.spans
    )


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(comment=comments(), history=_HISTORIES)
def test_the_same_evidence_gives_the_same_signals(comment, history):
    assert detect_all(comment, history) == detect_all(comment, history)


# Each changes its length, or vanishes, where a text is brought into normal form.
_CHANGING_LENGTH = (
    "ﷺ ﷺ ﷺ.\n\n",
    "İ İ İ.\n\n",
    "ß ﬃ ﬃ.\n\n",
    "a\u200bb\u200bc d.\n\n",
    "𝒷𝒷 𝒷.\n\n",
    "😀\u200d😀 ok.\n\n",
    "e\u0301e\u0301.\n\n",
    "&amp;&lt; ok.\n\n",
)


def marked(text: str, signal: Signal | None) -> set[str]:
    return {text[span.start : span.end] for span in signal.spans} if signal else set()


@each_detector
@pytest.mark.parametrize("opening", _CHANGING_LENGTH, ids=ascii)
def test_the_same_characters_are_marked_behind_letters_that_change_their_length(detector, opening):
    for example in detector.fires_on:
        comment = comment_of(example)
        longer = replace(comment, text=opening + comment.text)
        found = detector.detect(longer, example.history)

        # What stands before it may silence a detector, but not shift what it marks.
        if found is not None:
            before = marked(comment.text, detector.detect(comment, example.history))
            assert before <= marked(longer.text, found)
