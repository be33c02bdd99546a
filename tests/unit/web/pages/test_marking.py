"""Text is parted into pieces without losing, hiding or reordering anything."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.verdict import Span
from service.web.pages.marking import Layer, Piece, PieceKind, join_spans, part_text, shorten


def _layer(number, *spans, promo=False):
    return Layer(number=number, spans=tuple(Span(start=a, end=b) for a, b in spans), promo=promo)


TURNS = Piece(kind=PieceKind.SEAM, hint="turns into an advertisement", promo=True)


@pytest.mark.parametrize(
    ("text", "layers", "shown"),
    [
        (
            "abcdefgh",
            [_layer(1, (0, 5)), _layer(2, (3, 7))],
            [("abc", (1,)), ("de", (1, 2)), ("fg", (2,)), ("h", ())],
        ),
        ("abc", [_layer(1, (1, 99)), _layer(2, (50, 60))], [("a", ()), ("bc", (1,))]),
        (
            "ab\u200b\u200b\u200bcd",
            [_layer(1, (3, 6))],
            [("ab", ()), ("U+200B ×3", ()), ("c", (1,)), ("d", ())],
        ),
        (
            "Z" + "\u0301" * 500 + "algo",
            [],
            [("Z" + "\u0301" * 5, ()), ("+495 combining marks", ()), ("algo", ())],
        ),
    ],
    ids=["overlap", "beyond the text", "amid unseen", "tower"],
)
def test_text_is_parted_where_layers_and_stand_ins_begin_and_end(text, layers, shown):
    pieces = part_text(text, layers=layers)

    assert [(p.text, p.numbers) for p in pieces] == shown


def test_a_number_stands_where_its_span_ends_and_a_layer_of_promotion_marks_all_of_it():
    pieces = part_text("abcdef", layers=[_layer(1, (0, 5), promo=True), _layer(2, (3, 5))])

    assert [p.ends for p in pieces] == [(), (1, 2), ()]
    assert [p.promo for p in pieces] == [True, True, False]


def test_spans_of_one_layer_that_overlap_or_touch_are_joined():
    spans = [Span(start=4, end=6), Span(start=0, end=3), Span(start=3, end=4), Span(start=2, end=4)]

    assert join_spans(spans, 100) == [(0, 6)]


def test_a_seam_stands_between_the_two_sides():
    # At either end it parts nothing.
    pieces = part_text("Nice post. Buy now", seams={0: TURNS, 11: TURNS, 18: TURNS})

    kinds = [(p.kind, p.text or p.hint) for p in pieces]
    assert kinds == [
        (PieceKind.WORDS, "Nice post. "),
        (PieceKind.SEAM, "turns into an advertisement"),
        (PieceKind.WORDS, "Buy now"),
    ]


def test_hosts_are_told_apart_from_the_rest_of_a_link():
    pieces = part_text("see https://a.example/x", hosts=[Span(start=12, end=21)])

    assert [p.text for p in pieces if p.host] == ["a.example"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u200bpal", "U+200B"),
        ("a\u202egnp.exe", "RLO"),
        ("a\u2066b\u2069", "LRI"),
        ("a\u200e\u200fb", "LRM RLM"),
        ("a\u2028b", "U+2028"),
        ("a\ud800b", "U+D800"),
        ("a\u3164b", "U+3164"),
        ("a\U000e0041b", "U+E0041"),
        ("a\U000e0881b", "U+E0881"),
        ("😀\ufe03b", "U+FE03"),
        ("\u200da", "U+200D"),
        ("a\u2060\u2061\u2062\u2063b", "4 unseen"),
    ],
)
def test_what_prints_nothing_is_replaced_by_something_that_does(text, shown):
    pieces = part_text(text)

    unseen = [p for p in pieces if p.kind is PieceKind.UNSEEN]
    written = "".join(p.text for p in pieces if p.kind is PieceKind.WORDS)
    assert unseen[0].text == shown
    assert unseen[0].hint
    assert written.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d🚀 🏳️\u200d🌈",
        "line\nbreak\ttab\r\n",
        "שָׁלוֹם",
        "؀ ۝",
    ],
)
def test_what_a_script_is_spelled_with_is_left_alone(text):
    pieces = part_text(text)

    assert [p.text for p in pieces] == [text]


_HOSTILE = st.text(
    st.one_of(
        st.sampled_from("ab \n\u200b\u200c\u200d\u202e\u0301\u034f\U000e0041\ud800<>&\"'{}"),
        st.characters(),
    ),
    max_size=60,
)
_SPANS = st.lists(
    st.tuples(st.integers(0, 70), st.integers(1, 30)).map(lambda p: (p[0], p[0] + p[1])), max_size=4
)


@settings(max_examples=150, deadline=None)
@given(text=_HOSTILE, one=_SPANS, two=_SPANS, seams=st.lists(st.integers(0, 70), max_size=3))
def test_words_come_out_in_order_and_every_span_ends_once(text, one, two, seams):
    layers = [_layer(1, *one), _layer(2, *two)]

    pieces = part_text(text, layers=layers, seams=dict.fromkeys(seams, TURNS))

    rest = iter(text)
    words = "".join(p.text for p in pieces if p.kind is PieceKind.WORDS)
    assert all(char in rest for char in words)
    assert not set(words) & set("\u202e\u200b\u034f\ud800\U000e0041")
    assert sum(1 in p.ends for p in pieces) <= len(join_spans(layers[0].spans, len(text)))
    assert all(set(p.ends) <= set(p.numbers) for p in pieces)


@settings(max_examples=200, deadline=None)
@given(text=_HOSTILE, chars=st.integers(1, 30), lines=st.integers(1, 4))
def test_shortening_parts_a_text_and_loses_nothing(text, chars, lines):
    pieces = part_text(text)

    first, rest = shorten(pieces, max_chars=chars, max_lines=lines)

    assert "".join(p.text for p in (*first, *rest)) == "".join(p.text for p in pieces)
    assert sum(len(p.text) for p in first) <= chars * 3 // 2 or not rest


@pytest.mark.parametrize(
    ("text", "chars", "lines", "beginning"),
    [("word " * 1_000, 202, 9, "word " * 40), ("a\n" * 100, 5_000, 10, "a\n" * 10)],
)
def test_a_long_text_is_cut_between_words_or_at_a_line(text, chars, lines, beginning):
    first, rest = shorten(part_text(text), max_chars=chars, max_lines=lines)

    assert "".join(p.text for p in first) == beginning
    assert rest


@pytest.mark.parametrize(
    "flood",
    [
        "\u0301" * 500_000,
        "\u200b\u200c" * 250_000,
        "\u0301\u200b" * 30_000,
        "a" * 1_000_000,
        ("\n\n\n" + " " * 1_000) * 1_000,
    ],
    ids=["marks", "mixed", "alternating", "letters", "spaced lines"],
)
def test_floods_are_parted_in_linear_time(flood):
    start = time.process_time()

    pieces = part_text(flood)

    assert pieces
    assert time.process_time() - start < 5


def test_faces_joined_without_end_are_taken_apart():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"

    of_one = part_text(family)
    of_many = part_text("\U0001f468\u200d" * 4_000)

    assert [piece.kind for piece in of_one] == [PieceKind.WORDS]
    assert any(piece.kind is PieceKind.UNSEEN for piece in of_many)
    assert max(len(piece.text) for piece in of_many) < 40


def test_letters_that_only_look_latin_are_marked_within_mixed_words():
    text = "Gr\u0435at \u043f\u043e\u0441\u0442, na\u00efve \u03b1-rays"

    pieces = part_text(text)

    assert [(p.text, p.alike) for p in pieces if p.alike] == [("\u0435", True)]
    assert "cyrillic small letter ie" in next(p.hint for p in pieces if p.alike)
    assert "".join(p.text for p in pieces) == text


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\n \t"])
def test_thousands_of_empty_lines_are_told_as_a_number_and_what_follows_is_seen(break_):
    text = f"Nice post.{break_ * 5_000}Buy at pills.example"

    pieces = part_text(text)
    first, rest = shorten(pieces, max_chars=2_400, max_lines=36)

    assert "".join(piece.text for piece in first).endswith("Buy at pills.example")
    assert [p.text for p in pieces if p.kind is PieceKind.UNSEEN] == ["4,999 empty lines"]
    assert rest == ()
