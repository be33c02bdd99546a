"""Sees characters that show nothing inside words, where no script needs them."""

from __future__ import annotations

import re

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.spans import spans_of

# Between letters of these scripts a zero-width character has no honest use. Joiners in emoji, in
# Persian or Hindi words, and break hints in Thai or Khmer stand between other characters.
_LETTER = "A-Za-z0-9\u00c0-\u024f\u0370-\u052f"
_HIDDEN = (
    "\u034f\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
_IN_WORD = re.compile(f"(?<=[{_LETTER}])[{_HIDDEN}]+(?=[{_LETTER}])")
_SOFT_HYPHENS = re.compile(rf"(?<=[{_LETTER}])\u00ad[{_LETTER}]\u00ad(?=[{_LETTER}])")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0020-\U000e007e]{2,}")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]")


def hidden_characters(comment: Comment, _history: History) -> Signal | None:
    """Fire on hidden characters between letters, and on direction marks where nothing runs left."""
    text = comment.text
    if text.isascii():
        return None
    patterns = [_IN_WORD, _SOFT_HYPHENS, _TAGS]
    if not _RIGHT_TO_LEFT.search(text):
        patterns.append(_DIRECTION)
    found = [match.span() for pattern in patterns for match in pattern.finditer(text)]
    found = [span for span in found if not _in_flag(text, span[0])]
    if not found:
        return None
    return Signal(
        name="hidden_characters",
        strength=1.0 if len(found) > 1 else 0.7,
        reason="hides characters that show nothing inside words",
        spans=spans_of(found),
    )


def _in_flag(text: str, start: int) -> bool:
    """Say whether tag characters spell the region of a flag emoji, as Scotland's does."""
    return (
        "\U000e0020" <= text[start] <= "\U000e007e"
        and "\U0001f3f4" in text[max(0, start - 8) : start]
    )


HIDDEN_CHARACTERS = Detector(
    name="hidden_characters",
    detect=hidden_characters,
    fires_on=(
        Example(text="cheap vi\u200bag\u200bra for all"),
        Example(text="visit best\u2060loans\u2060online now"),
        Example(text="cheap vi\ufe0fag\ufe0fra for all"),
        Example(text="best cas\u206ai\u206ano bonus"),
        Example(text="read \u202emoc.snaol-kciuq\u202c backwards"),
    ),
    silent_on=(
        Example(
            text="lovely 👩\u200d👩\u200d👧 and "
            "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
        ),
        Example(text="خیلی خوب بود، می\u200cخواهم دوباره بخوانم"),
        Example(text="क्\u200dया बात है, बहुत अच्छा"),
        Example(text="\ufeffpasted from an editor\u200b with marks at the edges \u200bof words"),
        Example(text="I\u2764\ufe0fthis, step 1\ufe0f\u20e3 worked \u2708\ufe0fand so did 2"),
        Example(text="Donau\u00addampf\u00adschiff"),
    ),
)
