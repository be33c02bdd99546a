"""The three comments that the project answers: none of them passes, each with its seam marked.

Quoted from "The Future of Comments is Lies, I Guess" (aphyr.com, 2025), where their links are
redacted; an invented address stands in.
"""

from __future__ import annotations

import pytest

from service.domain.comment import Post
from service.domain.sender import History
from service.domain.verdict import Outcome
from service.moderation.judging import judge_comments
from service.stores.files.model_versions import ModelVersions
from tests.factories import NOW, make_comment

SLOPE = (
    "Walking down a sidewalk lined with vibrant flowers is one of life’s simple joys! It reminds "
    'me of playing the <a href="https://slope-game.example.io">slope game</a>, where you have to '
    "navigate through "
    "colorful landscapes while dodging obstacles."
)
SNOW_RIDER = (
    "That photo reminds me of the first time I tried macro photography in my backyard. I spent an "
    "hour trying to get a clear shot of a red flower, experimenting with angles and lighting. It "
    "was so much fun discovering the little details up close! If you ever need a break from "
    "photography, I recommend playing Snow Rider 3D for a bit of quick, light-hearted fun."
)
CRYPTO = (
    "This piece masterfully blends technical depth with mythological storytelling, transforming a "
    "standard Haskell programming interview into an epic narrative. It cleverly critiques the "
    "complexity and absurdity of some technical interviews by illustrating how type-level Haskell "
    "can be pushed to esoteric extremes beautiful, powerful, and largely impractical. A "
    "fascinating and relevant read for anyone interested in the intersection of programming, "
    "language design, and narrative. I’m James Maicle, working at Cryptoairhub where we run a "
    "clear and insightful crypto blog. I’ll be bookmarking your site and following the updates. "
    "Glad to see so much valuable information shared here looking forward to exploring more "
    "strategies together. Thanks for sharing. If you interest about Crypto please visit my "
    "website and read my article https://cryptoairhub.example Crypto Blog."
)


@pytest.mark.parametrize(
    ("text", "title", "seam"),
    [
        (SLOPE, "Flowers along the sidewalk", "It reminds me"),
        (SNOW_RIDER, "A red flower", "If you ever need"),
        (CRYPTO, "Typing the technical interview", "I’m James Maicle"),
    ],
    ids=["slope game", "snow rider", "crypto blog"],
)
def test_none_of_the_essays_comments_passes_and_each_seam_is_marked(text, title, seam):
    comment = make_comment(text, post=Post(title=title))
    model = ModelVersions(None).current()

    (verdict,) = judge_comments([comment], model, histories=[History()], now=NOW)

    seams = [
        weighed.signal.spans[0].start
        for weighed in verdict.signals
        if weighed.signal.name == "abrupt_shift"
    ]
    assert verdict.outcome is not Outcome.HAM
    assert seams == [text.index(seam)]
