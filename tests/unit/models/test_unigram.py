"""Our tables cut a text as the library does that writes the encoder's vocabulary file."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from models.unigram import Unigram

# What NFKC joins, reorders or takes apart, white space, unknown characters, marks as text.
_TEXTS = (
    "",
    "Thanks for this, the valve on my washer did the same.\n\n  See http shop.example now ",
    "Danke, das hätte ich nie gefunden – sehr schön erklärt!",
    "谢谢，很有帮助。日本語のテスト 한국어 댓글 ภาษาไทย हिन्दी में",
    "Cafe\u0301 \ufb01ne \xbd \uff76\uff9e e\u0301\u0302 a\u0315\u0300",
    "\u0344x \u1e9b\u0323 \u1112\u1161\u11ab",
    "a\u00a0b\u3000c\u200bd\te\x85f\u2028g ▁▁h▁",
    "👍👍🏽 𓀀𓀁 𓀂 [CLS] <unk> \ue000",
)


@pytest.fixture(scope="module")
def library(tokeniser_json) -> Tokenizer:
    return Tokenizer.from_str(tokeniser_json)


@pytest.fixture(scope="module")
def unigram(tokeniser_json) -> Unigram:
    return Unigram(tokeniser_json)


@pytest.mark.parametrize("text", _TEXTS)
def test_pieces_and_ranges_are_those_of_the_library(library, unigram, text):
    expected = library.encode(text, add_special_tokens=False)

    ids, spans = unigram.encode(text)

    assert ids == expected.ids
    assert spans == [tuple(span) for span in expected.offsets]


def test_pieces_of_any_text_are_those_of_the_library(library, unigram):
    # The library's tables are of an older Unicode.
    older = st.characters(max_codepoint=0xA7EF, exclude_categories=["Cs", "Cn"])

    @given(st.text(older, max_size=60))
    def compare(text: str) -> None:
        ids, spans = unigram.encode(text)
        assert ids == library.encode(text, add_special_tokens=False).ids
        assert all(0 <= start < end <= len(text) for start, end in spans)

    compare()


@pytest.mark.parametrize("piece", ["a", "谢", "\u0301", "▁", "\n ", "𓀀"])
def test_a_long_text_takes_its_time_once(unigram, piece):
    def seconds(times: int) -> float:
        began = time.process_time()
        unigram.encode(piece * times)
        return time.process_time() - began

    assert seconds(100_000) < 40 * max(seconds(10_000), 0.001)
