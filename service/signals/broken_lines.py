"""Sees lines that end inside a sentence, as programs that post in bulk wrap what they send."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.regions import Range, inside
from service.signals.spans import spans_of
from service.signals.view import TextView, view_of

# Shorter lines are lists, verses and greetings; longer ones ended where their writer meant them to.
_MIN_LINE = 45
_MAX_LINE = 100
_ENDS_INSIDE = ",'’"
_LINK_STARTS = ("http", "www.")


def broken_lines(comment: Comment, _history: History) -> Signal | None:
    """Fire on lines of ordinary length that break in a sentence and go on in lower case.

    Who begins in lower case writes so throughout: there it says nothing of a sentence.
    """
    view = view_of(comment)
    if view.text.lstrip()[:1].islower():
        return None
    breaks = list(_breaks(view))
    if not breaks:
        return None
    return Signal(
        name="broken_lines",
        strength=1.0 if len(breaks) > 1 else 0.8,
        reason="breaks lines inside sentences, as programs do that post in bulk",
        spans=spans_of(breaks),
    )


def _breaks(view: TextView) -> Iterator[Range]:
    """Yield each break, from the last word before it to the first after it."""
    start = 0
    lines = view.text.split("\n")
    for line, following in pairwise(lines):
        end = start + len(line)
        kept, follows = line.rstrip(), following.lstrip()
        if (
            _MIN_LINE <= len(kept.lstrip()) <= _MAX_LINE
            and (kept[-1].isalpha() or kept[-1] in _ENDS_INSIDE)
            and follows[:1].islower()
            and not follows.startswith(_LINK_STARTS)
            and not inside(view.shielded, end)
        ):
            first = end + 1 + len(following) - len(follows)
            before = start + kept.rfind(" ") + 1
            yield before, first + len(follows.split(maxsplit=1)[0])
        start = end + 1


BROKEN_LINES = Detector(
    name="broken_lines",
    detect=broken_lines,
    fires_on=(
        Example(
            text="Wonderful write-up, I was looking for this kind of guide\nfor a long time and"
            " finally found it. Keep up the great\nwork and greetings from my family."
        ),
        Example(
            text="The owner of this pool shop has kept prices low for years,\r\nand the delivery"
            " is free. You will not find anything better around here."
        ),
        Example(
            text="Je voulais vous dire que votre article sur les poêles est\nvraiment complet,"
            " je le recommande à mes clients."
        ),
    ),
    silent_on=(
        Example(
            text="The third valve was stuck, and it took me an hour to see that it was.\nOpened"
            " it, bled the radiator, warm again. Thank you for the drawing."
        ),
        Example(text="What we took along:\nbread and cheese\ntwo ropes\na map of the old paths"),
        Example(
            text="i tried this with the small stove we have in the kitchen\nand it only smokes,"
            " does anybody know how long the pipe has to be"
        ),
        Example(
            text="With the new release I get this when the pump starts:\n```\nwarning: the pressure"
            " is lower than what the manual asks for\nwaiting for the second valve\n```"
        ),
        Example(
            text="The drawing I mean is in the second part of this old manual\n"
            "https://manuals.example/pump.pdf"
        ),
    ),
)
