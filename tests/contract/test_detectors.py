"""The contract that every listed detector keeps."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.comment import Author, Comment, Post, Sender
from service.domain.history import History
from service.signals.detector import Detector, Example
from service.signals.registry import DETECTORS, detect_all
from tests.factories import make_comment

each_detector = pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: d.name)

_KIB_64 = 65_536
# Pieces that make naive patterns crawl, repeated to the size of the longest text or beyond.
_WORST_PIECES = (
    "a",
    " ",
    "\n",
    ".",
    "a.",
    "a-",
    "a@",
    "[",
    "[a](",
    "<a ",
    "<a href=",
    "[url=",
    "http://",
    "http://a.bet/)",
    "1 ",
    "1-",
    "+1 (",
    "`",
    "> \n",
    "\u200b",
    "aа",
    "𝐚",
    "a ",
    "buy now! ",
    "I'm ",
    "the . ",
    "网址。",
    "great post thanks ",
    "check out my ",
    "great article about ",
    "http://a.bet/?url=http://b.bet&",
    "The line goes on for more than forty-five letters\nand ",
    "http://xn--a.bet ",
    "[a loan](http://a.bet) ",
)


def comment_of(example: Example) -> Comment:
    return make_comment(
        example.text,
        post=Post(title=example.post_title, excerpt=example.post_excerpt),
        author=Author(
            name=example.author_name, url=example.author_url, trust_level=example.trust_level
        ),
        sender=Sender(email_domain=example.email_domain, listings=example.listings),
        edit=example.edit,
        form=example.form,
    )


def check_signal(detector: Detector, comment: Comment, history: History) -> None:
    signal = detector.detect(comment, history)
    if signal is not None:
        assert signal.name == detector.name
        assert all(span.end <= len(comment.text) for span in signal.spans)


def test_names_are_unique():
    names = [detector.name for detector in DETECTORS]

    assert len(names) == len(set(names))
    assert all(name.isidentifier() and name.islower() for name in names)


@each_detector
def test_fires_on_its_examples(detector):
    silent = [e for e in detector.fires_on if not detector.detect(comment_of(e), e.history)]

    assert len(detector.fires_on) >= 3
    assert silent == []


@each_detector
def test_is_silent_on_its_ham_twins(detector):
    fired = [e for e in detector.silent_on if detector.detect(comment_of(e), e.history)]

    assert len(detector.silent_on) >= 3
    assert fired == []


@each_detector
def test_names_its_signal_and_marks_characters_of_the_comment(detector):
    for example in detector.fires_on:
        comment = comment_of(example)

        signal = detector.detect(comment, example.history)

        assert signal is not None
        assert signal.name == detector.name
        assert all(span.end <= len(comment.text) for span in signal.spans)
        assert signal.spans == tuple(sorted(signal.spans, key=lambda s: s.start))


@each_detector
def test_gives_its_reason_as_a_clause_that_quotes_nothing(detector):
    for example in detector.fires_on:
        signal = detector.detect(comment_of(example), example.history)

        assert signal is not None
        assert signal.reason[0].islower()
        assert not signal.reason.endswith(".")
        quoted = [w for w in example.text.split() if len(w) > 9 and w in signal.reason.split()]
        assert quoted == []


@each_detector
@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=400), name=st.text(max_size=40), url=st.text(max_size=60))
def test_never_raises_on_any_text(detector, text, name, url):
    comment = make_comment(
        text,
        post=Post(url=url, title=name, excerpt=text),
        author=Author(name=name, url=url),
        sender=Sender(email_domain=name),
    )

    check_signal(detector, comment, History())


@settings(max_examples=150, deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from(
            [
                "https://a-b.shop/x", "[a](http://b.com)", "<a href='//c.org'>", "</a>",
                "[url=x.ru]", "\u200d", "😀", "ﷺ", "İ", "ß", "а", "𝒷", "。", "! ", ". ", "\n", "\t",
                "+44 7700 900123", "x@y.com", " dot com", "I am Joe", "buy now", "great post", ">",
                "`", "```", "(", ")",
            ]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_together_they_never_raise_on_mixtures_of_what_they_look_for(pieces):
    comment = make_comment("".join(pieces))

    signals = detect_all(comment, History())

    assert all(span.end <= len(comment.text) for s in signals for span in s.spans)


@each_detector
def test_takes_a_megabyte_of_worst_cases_in_its_stride(detector):
    started = time.process_time()
    for piece in _WORST_PIECES:
        text = (piece * (_KIB_64 // len(piece) + 1))[:_KIB_64]

        check_signal(detector, make_comment(text), History())

    # What the processor did, not what the clock says: a busy machine makes nothing quadratic.
    assert time.process_time() - started < 20
    assert len(_WORST_PIECES) * _KIB_64 > 1_000_000
