"""Sees a remark that repeats words of the post's title in a row and adds nothing of its own."""

from __future__ import annotations

from functools import lru_cache

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.impersonal_remark import is_impersonal
from service.signals.quoted import is_quoted
from service.signals.segments import segments_of
from service.signals.spans import spans_of
from service.signals.view import TextView, view_of
from service.signals.words import Word, find_words

_RUN = 3
# A run of small words ("how to do") is a turn of speech, not a title.
_MIN_LONG_WORDS = 2
_MIN_LETTERS = 4
_MAX_TITLE_WORDS = 40
# The title alone, with nothing around it, is a share or a trackback.
_MIN_WORDS = 8


def restated_title(comment: Comment, _history: History) -> Signal | None:
    """Fire on three title words in a row in a remark without "I", figure, doubt or question."""
    runs = _runs_of(comment.post.title or "")
    view = view_of(comment)
    if len(view.words) < _MIN_WORDS or not any(view.word_set.issuperset(run) for run in runs):
        return None
    segments = segments_of(comment)
    if view.shielded or not segments or not is_impersonal(segments):
        return None
    found = [view.original(run) for run in _found(view, runs)]
    found = [span for span in found if not is_quoted(view.text, span[0])]
    if not found:
        return None
    return Signal(
        name="restated_title",
        strength=1.0 if len(found) > 1 else 0.7,
        reason="repeats the post's title in a remark that adds nothing of the writer's own",
        spans=spans_of(found),
    )


@lru_cache(maxsize=64)
def _runs_of(title: str) -> frozenset[tuple[str, ...]]:
    """Return every three words in a row of a title that hold two longer ones."""
    words = [word.text for word in find_words(title)[:_MAX_TITLE_WORDS]]
    runs = (tuple(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1))
    return frozenset(
        run for run in runs if sum(len(word) >= _MIN_LETTERS for word in run) >= _MIN_LONG_WORDS
    )


def _found(view: TextView, runs: frozenset[tuple[str, ...]]) -> list[Word]:
    words = view.words
    return [
        Word("", first.start, last.end)
        for first, second, last in zip(words, words[1:], words[2:], strict=False)
        if (first.text, second.text, last.text) in runs
    ]


RESTATED_TITLE = Detector(
    name="restated_title",
    detect=restated_title,
    fires_on=(
        Example(
            text="Bleeding a radiator without flooding the hall is a task that every home owner"
            " should master, and this guide makes it accessible.",
            post_title="Bleeding a radiator without flooding the hall",
        ),
        Example(
            text="A thoughtful look at two winters with a wood stove. Such honesty is rare.",
            post_title="Two winters with a wood stove",
        ),
        Example(
            text="Der Beitrag über Ofen im alten Bauernhaus zeigt eindrucksvoll, wie wichtig"
            " Wärme für die Menschen ist.",
            post_title="Ofen im alten Bauernhaus",
        ),
    ),
    silent_on=(
        Example(
            text="I came for two winters with a wood stove and stayed for the cat.",
            post_title="Two winters with a wood stove",
        ),
        Example(
            text='"Two winters with a wood stove" is the post that made the stove famous here.',
            post_title="Two winters with a wood stove",
        ),
        Example(
            text="Is bleeding a radiator without flooding the hall possible with a one-pipe loop?",
            post_title="Bleeding a radiator without flooding the hall",
        ),
        Example(text="Two winters with a wood stove!", post_title="Two winters with a wood stove"),
    ),
)
