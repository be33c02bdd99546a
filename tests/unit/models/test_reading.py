"""What is read of a text: what normalising keeps, which disguises are undone, where it stood."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.text import (
    ANCHOR,
    EMAIL,
    HOST,
    LINK,
    MAX_WINDOW_CHARS,
    PHONE,
    normalise,
    window,
    window_ends,
)
from models.undisguise import undisguise
from models.view import view_text

HOSTILE = {
    "word characters": "a" * 65_536,
    "dots": "a." * 32_768,
    "at signs": "a@" * 32_768,
    "digits and blanks": "1 " * 32_768,
    "angle brackets": "<a " * 21_845,
    "ampersands": "&" * 65_536,
    "numbers of characters": "&#" + "9" * 65_534,
    "combining marks": "a" + "\u0301\u0316" * 32_767,
    "ligatures that grow": "\ufdfa" * 21_845,
    "schemes": "http://" * 9_362,
    "zero-width": "\u200b" * 21_845,
    "lone surrogates": "\ud800" * 21_845,
    "NUL": "\0" * 65_536,
    "line ends": "\n" * 65_536,
}


def test_a_link_leaves_a_mark_its_ending_and_its_words():
    text = normalise("see https://www.cheap-loans.shop/best_offer?x=1 now")

    assert text == f"see {LINK} {LINK}shop cheap loans shop best offer x 0 now"


def test_a_host_without_a_scheme_is_marked_as_a_host():
    assert f"{HOST}online" in normalise("order at get-nervasol.online today")


def test_a_number_or_an_abbreviation_is_not_a_host():
    assert HOST not in normalise("it rose 3.5 percent, e.g. 1.2.3 times")


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("jo@mail.example", EMAIL),
        ("<email>", EMAIL),
        ("+1 (202) 555-0126", PHONE),
        ("<phone>", PHONE),
    ],
)
def test_addresses_numbers_and_their_placeholders_read_alike(text, mark):
    assert normalise(f"call {text}") == f"call {mark}"


def test_anchors_of_any_markup_are_marked():
    texts = ('<a href="x">y</a>', "[url=x]y[/url]", "[y](x)")

    assert [ANCHOR in normalise(text) for text in texts] == [True, True, True]


def test_a_visitor_cannot_type_the_marks():
    assert LINK not in normalise(f"no link {LINK} here")


def test_character_references_read_like_what_they_stand_for():
    assert normalise("caf&eacute; &#99;asino") == "café casino"


def test_of_a_long_text_both_ends_are_read():
    text = "start " + "x" * 60_000 + " https://end.example"

    ends = window_ends(text)

    assert ends == [(0, MAX_WINDOW_CHARS // 2), (len(text) - MAX_WINDOW_CHARS // 2, len(text))]
    assert window(text).startswith("start ")
    assert window(text).endswith("https://end.example")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_of_any_kind_are_read_in_no_time(text):
    started = time.process_time()

    answer = normalise(text)

    # 30 ms on a slow machine; work in the square of the length would take minutes.
    assert time.process_time() - started < 2.0
    assert len(answer) <= 20 * MAX_WINDOW_CHARS


any_text = st.text(st.characters(codec=None), max_size=200)
links = st.sampled_from(
    ["https://a.example", "HTTP://www.b.example/x-y_z/1?q=2", "www.c.example/", "http://"]
)
text_with_links = st.lists(any_text | links, max_size=6).map("".join)


def seen(text: str, words: str) -> str:
    """Return what of the original the words of its view stand for."""
    view = view_text(text)
    start = view.text.index(words)
    first, last = view.original(start, start + len(words))
    return text[first:last]


def test_a_link_is_cut_to_its_host_and_a_few_words():
    text = "see https://www.shop.example/cheap-watches/buy_now?id=1&ref=two-hundred-more-words ok"

    assert view_text(text).text == "see  http shop.example cheap watches buy now id 1 re  ok"


def test_any_word_of_a_link_stands_for_the_whole_link():
    link = "https://shop.example/cheap-watches"

    assert seen(f"before {link} after", "watches") == link
    assert seen(f"before {link} after", "http") == link


@given(text_with_links)
def test_every_segment_of_a_view_lies_inside_the_text_and_in_order(text):
    view = view_text(text)

    places = [view.original(i, i + 1) for i in range(len(view.text))]

    assert all(0 <= start <= end <= len(text) for start, end in places)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(places))


@given(st.text(max_size=300).filter(lambda text: "://" not in text and "www" not in text.lower()))
def test_a_text_without_links_and_disguises_is_its_own_view(text):
    assume(undisguise(text).text == text)

    view = view_text(text)

    assert view.text == text
    assert [view.original(i, i + 1) for i in range(len(text))] == [
        (i, i + 1) for i in range(len(text))
    ]


def test_of_a_long_text_both_ends_are_read_where_they_stand():
    text = "first words " + "x" * 50_000 + " last words"

    view = view_text(text)

    assert len(view.text) == MAX_WINDOW_CHARS + 1
    assert view.text.startswith("first words")
    assert view.text.endswith("last words")
    end = len(view.text)
    assert view.original(end - len("last words"), end) == (len(text) - 10, len(text))


@pytest.mark.parametrize(
    "piece",
    ["https://", "www.", "http://a", "https://a/" + "-" * 60, "://", "-_", "\ud800", "\u0301", " "],
)
def test_a_hostile_megabyte_is_read_at_its_ends_and_no_longer(piece):
    text = piece * (1_000_000 // len(piece))

    view = view_text(text)

    assert len(view.text) <= 2 * MAX_WINDOW_CHARS
    assert view.original(0, len(view.text)) == (0, len(text))


LETTERS = "abcdefghijklmnopqrstuvwxyz"
LOOK_ALIKES = dict(zip("aeopcxyisj", "аеорсхуіѕј", strict=True))

DISGUISES = {
    "zero-width": lambda word: "\u200b".join(word),
    "soft hyphen": lambda word: "\u00ad".join(word),
    "bold": lambda word: "".join(chr(0x1D41A + LETTERS.index(c)) for c in word),
    "full-width": lambda word: "".join(chr(0xFF41 + LETTERS.index(c)) for c in word),
    "in circles": lambda word: "".join(chr(0x24D0 + LETTERS.index(c)) for c in word),
    "struck through": lambda word: "".join(c + "\u0336" for c in word),
    "underlined": lambda word: "".join(c + "\u0332" for c in word),
    "stacks of marks": lambda word: "".join(c + "\u0316\u0301\u0347\u0300" for c in word),
    "a mark on every letter": lambda word: "".join(c + "\u0302" for c in word),
    "look-alikes": lambda word: word[:2] + "".join(LOOK_ALIKES.get(c, c) for c in word[2:]),
    "apart by blanks": " ".join,
    "apart by hyphens": "-".join,
    "apart by dots": ".".join,
    "apart and struck through": lambda word: " ".join(c + "\u0336" for c in word),
    "digits": lambda word: word.replace("i", "1").replace("a", "4").replace("o", "0"),
    "digits and zero-width": lambda word: "\u200b".join(word.replace("o", "0")),
}
WORDS = ["casino", "viagra", "telegram", "discount"]

ORDINARY = [
    "The ESP32 speaks i2c at 3v3, H264 and MP3 work, log4j and utf8 too.",
    "sha256 is 3c4d1a0b77e5, see 0x1f3a, v1.4.7-rc1 and a4b8f00d.",
    "`c4sin0 = v1agra` is code; mail v1agra@c4sin0.example or see https://c4sin0.example/v1agra",
    "l33t h4x0r",
    "$cash is a variable, @casino a handle, CA$5 a price, 7am a time",
    "I tune it D A D G A D, and he sang a b c d e f g; the U.S.S.R. archives",
    "x x x x x marks the spot, 1 2 3 4 5",
    "我 是 中 国 人",
    "Step ① then ② then ③, all fine ™ and ½ of x²",
    "ＶＨＳ１２３"[3:] + "番です",
    "Поставил Linux и настроил VPN, на моём iPhone всё работает",
    "Cтатья про GPSом и ГЛОНАСС",
    "Η λέξη email γράφεται με λατινικά",
    "A 4.7μF cap and a 10kΩ resistor, ΔT of 5, sinα + cosα = hν",
    "Tiê\u0301ng Viê\u0323t, re\u0301sume\u0301, na\u00efve, ᾳ\u0313\u0300\u0345",
    "हिन्दी में लिखा है",
    "العَرَبِيَّة لُغَةٌ",
    "שָׁלוֹם עֲלֵיכֶם",
    "ภาษาไทยที่น้ำ",
    "phonetics: /ˈkɑː.sɪ.nəʊ/ with ʰ and ᵊ, the set ℝ of numbers",
    "𝛼 ≠ 𝛽, 5 ≮ 3",
    # Slips of the keyboard, and a row too long for a word.
    "Это была моя первaя покупка, cмотрите сaм",
    " ".join("thequickbrownfoxjumpsoverthelazydogandruns"),
]


def stands_for(text: str, word: str) -> str:
    """Return what of the original a word of its plain text stands for."""
    plain = undisguise(text)
    start = plain.text.index(word)
    first, end = plain.original(start, start + len(word))
    return text[first:end]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_a_disguised_word_is_read_and_stands_where_it_stood(disguise, word):
    disguised = disguise(word)
    text = f"get the {disguised} now"

    assert undisguise(text).text == f"get the {word} now"
    assert stands_for(text, word) == disguised


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_both_members_read_a_disguised_word_like_the_word_itself(disguise):
    text = f"get the {disguise('casino')} now"

    assert view_text(text).text == "get the casino now"
    assert normalise(text) == "get the casino now"


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_stays_as_it_is(text):
    assert undisguise(text).text == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "ᴄᴀꜱɪɴᴏ 🄲🄰🅂🄸🄽🄾 🅲🅰🆂🅸🅽🅾 𝒸𝒶𝓈𝒾𝓃ℴ ᶜᵃˢⁱⁿᵒ",
            "casino CASINO CASINO casino casino",
        ),
        # Short words beside a disguised one are read too.
        ("wе can offег ｙօu goοd loans", "we can offer you good loans"),
        # A word wholly of another alphabet stays.
        ("сор саsino", "сор casino"),
        # Digits are letters where they are a way of writing.
        ("b3st pr1c3 h3re t0day fr0m us", "best price here today from us"),
        # A capital begins a word among letters held apart.
        ("B u y N o w C h e a p", "Buy Now Cheap"),
        # Short words beside two held apart are joined, beside one they stay.
        ("b-u-y c-h-e-a-p p-i-l-l-s n-o-w, a-z", "buy cheap pills now, az"),
        ("b-u-y c-h-e-a-p stuff, e-g", "b-u-y cheap stuff, e-g"),
        ("می\u200cخواهم", "میخواهم"),
    ],
)
def test_words_are_read_as_a_reader_does(text, plain):
    assert undisguise(text).text == plain


odd_characters = st.sampled_from(
    "\u200b\u00ad\u0336\u0301\u0332𝐜ⓒｃᴄ🅲аеοѕ\u0338 .-1$04@`aAbo\ud800\U000e0041👩\ufe0f"
)
odd_text = st.text(odd_characters | st.characters(codec=None), max_size=80)


@given(odd_text)
def test_the_characters_of_a_plain_text_tile_the_original(text):
    plain = undisguise(text)

    places = [plain.original(i, i + 1) for i in range(len(plain.text))]

    assert all(start < end for start, end in places)
    assert all(a[1] == b[0] for a, b in pairwise(places))
    assert not places or (places[0][0] == 0 and places[-1][1] == len(text))


@given(odd_text, st.sampled_from(WORDS), st.sampled_from(sorted(DISGUISES)), odd_text)
def test_a_disguised_word_keeps_its_place_whatever_stands_around_it(before, word, disguise, after):
    disguised = DISGUISES[disguise](word)
    ahead = f"{before} \n"
    view = view_text(f"{ahead}{disguised}\n {after}")
    # Other words of the text may bring a rule to bear on it, or spoil it; then nothing is promised.
    start = view.text.find(f"\n{word}\n") + 1
    if not start:
        return

    first, end = view.original(start, start + len(word))

    assert first >= len(ahead) or word in before
    assert (first, end) == (len(ahead), len(ahead) + len(disguised)) or word in before + after


@pytest.mark.parametrize(
    "piece",
    [
        "a\u200b",
        "\u0301",
        "a\u0332\u034f",
        "\U0001d41c",
        "a b ",
        "a-",
        "a.b.c.d.e_",
        "\u0430b",
        "жизнь \u0430bcd ",
        "c4sin0 ",
        "1a$",
        "@",
        "`",
        "http://a ",
    ],
)
def test_a_long_hostile_text_is_read_to_its_end(piece):
    text = piece * (200_000 // len(piece))

    plain = undisguise(text)

    assert len(plain.offsets) == len(plain.text) + 1
    assert not plain.text or plain.original(0, len(plain.text)) == (0, len(text))


def test_disguises_are_counted_and_joiners_are_none():
    assert undisguise("c\u0430sino, ｆｒｅｅ, c4sin0").n_disguised == 3
    assert undisguise("\u200bhello \U0001f469\u200d\U0001f4bb").n_disguised == 0
