"""What is read of a text: what normalising keeps, which disguises are undone, where it stood."""

import time
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.segments import MAX_SEGMENTS, split_segments
from models.text import ANCHOR, EMAIL, HOST, LINK, MAX_WINDOW_CHARS, PHONE, normalise, window
from models.undisguise import undisguise
from models.view import view_text

# Repeated to 200,000 characters.
HOSTILE = [
    *("a", "a.", "a@", "a-", "a ", "a, ", "a b ", "a.b.c.d.e_", "1 ", "1a$", "! ", " ", "\n", "\0"),
    *("<a ", "&", "&#" + "9" * 65_534, "@", "`", "-_", "://", "http://", "http://a ", "http://a"),
    *("https://", "https://a/" + "-" * 60, "www.", "\ufdfa", "\U0001d41c", "\ud800", "c4sin0 "),
    *(
        *("\u200b", "a\u200b", "\u0301", "\u0301\u0316", "a\u0332\u034f", "\u0430b"),
        "жизнь \u0430bcd ",
    ),
]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        # A link leaves a mark, its ending and its words, and so does a host without a scheme.
        (
            "see https://www.cheap-loans.shop/best_offer?x=1 now",
            f"see {LINK} {LINK}shop cheap loans shop best offer x 0 now",
        ),
        ("at get-nervasol.online today", f"at {HOST}online get-nervasol.online today"),
        ("it rose 3.5 percent, e.g. 1.2.3 times", "it rose 0.0 percent, e.g. 0.0.0 times"),
        ("call jo@mail.example", f"call {EMAIL}"),
        ("call <email>", f"call {EMAIL}"),
        ("call +1 (202) 555-0126", f"call {PHONE}"),
        ("call <phone>", f"call {PHONE}"),
        ('<a href="x">y</a>', f'{ANCHOR} href="x">y {ANCHOR} >'),
        ("[url=x]y[/url]", f"{ANCHOR} =x]y {ANCHOR} ]"),
        ("[y](x)", f"[y {ANCHOR} x)"),
        # A visitor cannot type the marks.
        (f"no link {LINK} here", "no link here"),
        ("caf&eacute; &#99;asino", "café casino"),
    ],
)
def test_values_are_counted_as_marks(text, read):
    assert normalise(text) == read


def test_of_a_long_text_both_ends_are_read_where_they_stand():
    text = "first words " + "x" * 50_000 + " https://end.example"
    half = MAX_WINDOW_CHARS // 2

    view = view_text(text)

    assert window(text) == f"{text[:half]} {text[-half:]}"
    assert view.text.startswith("first words x")
    assert view.text.rstrip().endswith("x  http end.example")
    assert view.original(0, 5) == (0, 5)
    end = view.text.index("end.example")
    assert view.original(end, end + 3) == (text.index("https"), len(text))


@pytest.mark.parametrize("piece", HOSTILE, ids=lambda piece: ascii(piece[:12]))
def test_a_hostile_text_is_read_in_no_time_and_to_its_end(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()

    counted, segments = normalise(text), split_segments(text)
    view, plain = view_text(text), undisguise(text)

    # 0.1 s on a slow machine; work in the square of the length would take minutes.
    assert time.process_time() - started < 2.0
    assert len(counted) <= 20 * MAX_WINDOW_CHARS
    assert len(segments) <= MAX_SEGMENTS + 2
    assert all(0 <= start < end <= len(text) for start, end in segments)
    assert len(view.text) <= 2 * MAX_WINDOW_CHARS
    assert len(plain.offsets) == len(plain.text) + 1
    for read in (view, plain):
        assert not read.text or read.original(0, len(read.text)) == (0, len(text))


any_text = st.text(st.characters(codec=None), max_size=200)
links = st.sampled_from(
    ["https://a.example", "HTTP://www.b.example/x-y_z/1?q=2", "www.c.example/", "http://"]
)
text_with_links = st.lists(any_text | links, max_size=6).map("".join)


def test_a_link_is_cut_to_its_host_and_a_few_words_that_stand_for_all_of_it():
    link = "https://www.shop.example/cheap-watches/buy_now?id=1&ref=two-hundred-more-words"

    view = view_text(f"see {link} ok")

    assert view.text == "see  http shop.example cheap watches buy now id 1 re  ok"
    for word in ("http", "watches"):
        start = view.text.index(word)
        assert view.original(start, start + len(word)) == (4, 4 + len(link))


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


LETTERS = "abcdefghijklmnopqrstuvwxyz"
LOOK_ALIKES = dict(zip("aeopcxyisj", "аеорсхуіѕј", strict=True))

DISGUISES = {
    "zero-width": lambda word: "\u200b".join(word),
    "soft hyphen": lambda word: "\u00ad".join(word),
    "bold": lambda word: "".join(chr(0x1D41A + LETTERS.index(c)) for c in word),
    "full-width": lambda word: "".join(chr(0xFF41 + LETTERS.index(c)) for c in word),
    "struck through": lambda word: "".join(c + "\u0336" for c in word),
    "stacks of marks": lambda word: "".join(c + "\u0316\u0301\u0347\u0300" for c in word),
    "a mark on every letter": lambda word: "".join(c + "\u0302" for c in word),
    "look-alikes": lambda word: word[:2] + "".join(LOOK_ALIKES.get(c, c) for c in word[2:]),
    "apart by blanks": " ".join,
    "apart by hyphens": "-".join,
    "apart and struck through": lambda word: " ".join(c + "\u0336" for c in word),
    "digits": lambda word: word.replace("i", "1").replace("a", "4").replace("o", "0"),
}
WORDS = ["casino", "viagra", "telegram", "discount"]

ORDINARY = [
    "The ESP32 speaks i2c at 3v3, H264 and MP3 work, log4j and utf8 too.",
    "sha256 is 3c4d1a0b77e5, see 0x1f3a, v1.4.7-rc1 and a4b8f00d.",
    "`c4sin0 = v1agra` is code; mail v1agra@c4sin0.example or see https://c4sin0.example/v1agra",
    *("l33t h4x0r", "$cash is a variable, @casino a handle, CA$5 a price, 7am a time"),
    "I tune it D A D G A D, and he sang a b c d e f g; the U.S.S.R. archives",
    *("x x x x x marks the spot, 1 2 3 4 5", "我 是 中 国 人"),
    "Step ① then ② then ③, all fine ™ and ½ of x²",
    "ＶＨＳ１２３"[3:] + "番です",
    *("Поставил Linux и настроил VPN, на моём iPhone всё работает", "Cтатья про GPSом и ГЛОНАСС"),
    "Η λέξη email γράφεται με λατινικά",
    "A 4.7μF cap and a 10kΩ resistor, ΔT of 5, sinα + cosα = hν",
    "Tiê\u0301ng Viê\u0323t, re\u0301sume\u0301, na\u00efve, ᾳ\u0313\u0300\u0345",
    *("हिन्दी में लिखा है", "العَرَبِيَّة لُغَةٌ", "שָׁלוֹם עֲלֵיכֶם", "ภาษาไทยที่น้ำ"),
    *("phonetics: /ˈkɑː.sɪ.nəʊ/ with ʰ and ᵊ, the set ℝ of numbers", "𝛼 ≠ 𝛽, 5 ≮ 3"),
    # Slips of the keyboard, and a row too long for a word.
    "Это была моя первaя покупка, cмотрите сaм",
    " ".join("thequickbrownfoxjumpsoverthelazydogandruns"),
]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_a_disguised_word_is_read_by_both_members_and_stands_where_it_stood(disguise, word):
    disguised, said = disguise(word), f"get the {word} now"
    text = f"get the {disguised} now"

    plain = undisguise(text)

    assert plain.text == view_text(text).text == normalise(text) == said
    first, end = plain.original(said.index(word), said.index(word) + len(word))
    assert text[first:end] == disguised


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
        ("🅲\u200d🅰\u200d🆂\u200d🅸\u200d🅽\u200d🅾 👨\u200d👩\u200d👧", "CASINO 👨"),
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


def test_disguises_are_counted_and_joiners_are_none():
    assert undisguise("c\u0430sino, ｆｒｅｅ, c4sin0").n_disguised == 3
    assert undisguise("\u200bhello \U0001f469\u200d\U0001f4bb").n_disguised == 0
