"""Sees gambling, pills, sex, loans and their like named beside an address to go to."""

from __future__ import annotations

from service.domain.comment import Comment, Post
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.cues import Hit
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.posts import text_of_post
from service.signals.spans import spans_of
from service.signals.view import TextView, view_of


def offered_vice(comment: Comment, _history: History) -> Signal | None:
    """Fire on a trade that lives on spam, where a link, a contact or the author's URL leads on.

    What the post itself is about is no sign of anything, and nor is a word without an address.
    """
    view = view_of(comment)
    named = [hit for hit in view.cues if hit.cue is Cue.VICE]
    if not named or not (view.open_links or comment.author.url or view.contacts):
        return None
    told = _beside_the_topic(named, view, comment.post)
    if not told:
        return None
    return Signal(
        name="offered_vice",
        strength=1.0 if len(told) > 1 else 0.7,
        reason="names a trade that lives on spam, beside an address to go to",
        spans=spans_of(view.original(hit) for hit in told),
    )


def _beside_the_topic(named: list[Hit], view: TextView, post: Post) -> list[Hit]:
    topic = text_of_post(post).lower()
    words = [view.plain.text[hit.start : hit.end].lower() for hit in named]
    known = {word for word in set(words) if word in topic}
    return [hit for hit, word in zip(named, words, strict=True) if word not in known]


OFFERED_VICE = Detector(
    name="offered_vice",
    detect=offered_vice,
    fires_on=(
        Example(
            text="Free spins tonight, the best online casino is at https://lucky-spin.net/join"
        ),
        Example(
            text="Thanks for this. I got my payday loan the same day, no questions asked.",
            author_url="https://quick-money.net/",
        ),
        Example(text="Купить диплом, кредит за час, пишите на kredit-srazu@mail-box.ru"),
    ),
    silent_on=(
        Example(text="The casino scene in that film is why I still read about it every year."),
        Example(
            text="We had the same with our loan, the table helped: https://bank-notes.org/table",
            post_title="What a loan really costs",
        ),
        Example(
            text="The pump in my cellar does that too, photos here: https://cellar-notes.org/pump",
        ),
        Example(text="Poker players call that tilt. It took me a year to stop reloading the page."),
    ),
)
