"""The seam between a remark and an advertisement is found where it is."""

from __future__ import annotations

import pytest

from service.domain.comment import Post
from service.domain.history import History
from service.signals.abrupt_shift import abrupt_shift
from tests.factories import make_comment

# Three comments that the essay "The Future of Comments is Lies, I Guess" quotes as spam, its
# "[link redacted]" filled with an address of the kind.
SIDEWALK = (
    ("Walking down a sidewalk lined with vibrant flowers is one of life’s simple joys! "),
    (
        'It reminds me of playing the <a href="https://slopegame.example.io">slope game</a>, '
        "where you have to navigate through colorful landscapes while dodging obstacles."
    ),
)
MACRO = (
    (
        "That photo reminds me of the first time I tried macro photography in my backyard. I "
        "spent an hour trying to get a clear shot of a red flower, experimenting with angles and "
        "lighting. It was so much fun discovering the little details up close! "
    ),
    (
        "If you ever need a break from photography, I recommend playing Snow Rider 3D for a bit "
        "of quick, light-hearted fun."
    ),
)
HASKELL = (
    (
        "This piece masterfully blends technical depth with mythological storytelling, "
        "transforming a standard Haskell programming interview into an epic narrative. It "
        "cleverly critiques the complexity and absurdity of some technical interviews by "
        "illustrating how type-level Haskell can be pushed to esoteric extremes beautiful, "
        "powerful, and largely impractical. A fascinating and relevant read for anyone "
        "interested in the intersection of programming, language design, and narrative. "
    ),
    (
        "I’m James Maicle, working at Cryptoairhub where we run a clear and insightful crypto "
        "blog. I’ll be bookmarking your site and following the updates. Glad to see so much "
        "valuable information shared here looking forward to exploring more strategies together. "
        "Thanks for sharing. If you interest about Crypto please visit my website and read my "
        'article <a href="https://cryptoairhub.example.com">Crypto Blog</a>.'
    ),
)


@pytest.mark.parametrize(
    ("remark", "advert", "title"),
    [
        (*SIDEWALK, "Flowers along the sidewalk"),
        (*MACRO, "A red flower"),
        (*HASKELL, "Typing the technical interview"),
    ],
    ids=["sidewalk", "macro", "haskell"],
)
def test_finds_the_seam_in_the_comments_that_the_essay_quotes(remark, advert, title):
    comment = make_comment(remark + advert, post=Post(title=title))

    signal = abrupt_shift(comment, History())

    assert signal is not None
    assert [(s.start, s.end) for s in signal.spans] == [(len(remark), len(remark + advert))]


def test_finds_the_third_essay_comment_without_its_link():
    text = "".join(HASKELL).replace('<a href="https://cryptoairhub.example.com">', "").strip()
    comment = make_comment(text.replace("</a>", ""))

    signal = abrupt_shift(comment, History())

    assert signal is not None
    assert signal.spans[0].start == len(HASKELL[0])
    assert "introduces its writer" in signal.reason


def test_finds_an_advertisement_between_two_remarks():
    before, advert, after = (
        "The bedsheet as a screen is a lovely beginning for the club.",
        "Cheap 4K projectors 50% off with free delivery, order at lumibeam-deals.shop now!",
        "The wedding in the third year sounds like the best evening of all.",
    )
    comment = make_comment(f"{before} {advert} {after}", post=Post(title="Ten years of film club"))

    signal = abrupt_shift(comment, History())

    assert signal is not None
    assert comment.text[signal.spans[0].start : signal.spans[0].end] == advert
    assert signal.reason.startswith("between two remarks")


def test_finds_an_advertisement_before_the_remark():
    advert = "Water damage? Call Flood Dry Pros 24/7, free estimate at flooddrypros-repair.com."
    remark = " We are sorry for the residents of the avenue, what a night that must have been."
    comment = make_comment(advert + remark, post=Post(title="Main break floods three blocks"))

    signal = abrupt_shift(comment, History())

    assert signal is not None
    assert signal.spans[0].end == len(advert)


def test_is_silent_where_all_is_advertisement():
    comment = make_comment("Best valves 50% off with free delivery, order at valvehaus.shop now!")

    assert abrupt_shift(comment, History()) is None


def test_words_of_the_posts_own_subject_make_no_advertisement():
    text = "The fees surprised me too. A loan at 24% is what my brother took from the lender."
    comment = make_comment(text, post=Post(title="How a payday loan from a lender grew"))

    assert abrupt_shift(comment, History()) is None
