"""A text without the short ends that anybody can add to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ends import without_ends

AD = "Our widgets ship worldwide at https://widgets.shop today."
CODE = "```python\nfor row in rows:\n    seen.add(row)\n```"


@pytest.mark.parametrize(
    "end",
    [
        "Sent from my phone.",
        "PS: typed on my phone. Sorry for the typos.",
        CODE,
        "<code>grep -rn TODO src/</code>",
        "<pre><code>a.b()\nc.d()</code></pre>",
        "> I had the same question.",
        "用手机打的，有错字请见谅。",
    ],
)
@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
def test_an_end_is_taken_off_on_either_side(end, between):
    assert AD in without_ends(f"{AD}{between}{end}")
    assert AD in without_ends(f"{end}{between}{AD}")


def test_one_or_two_sentences_are_taken_off_on_either_side():
    assert set(without_ends("One two. Three four. Five six.")) == {
        "Three four. Five six.",
        "Five six.",
        "One two. Three four.",
        "One two.",
    }


@pytest.mark.parametrize(
    "text",
    ["", "Thanks!", "See e.g. page 9.", "...", f"{'word ' * 60}. {'word ' * 60}.", "Hm. " * 400],
)
def test_one_sentence_long_ends_and_a_long_text_give_none(text):
    assert without_ends(text) == []


@given(st.text(alphabet="ab .!\n`<>pre/code。", max_size=80))
def test_what_is_left_is_part_of_the_text(text):
    for left in without_ends(text):
        assert left in text
        assert len(left) < len(text.strip())
