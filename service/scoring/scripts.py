"""Names the script that most letters of a text are of: a cheap stand-in for its language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter

from service.domain.comment import Comment

# As many letters as this tell the script; the rest of a long text is not looked at.
_LOOKED_AT = 1_000
NO_LETTERS = "none"
OTHER = "other"
# First code point of each block of The Unicode Standard 16 (file Blocks.txt) and its script;
# what lies between two of ours counts as other.
_BLOCKS = (
    (0x0041, "Latin"),
    (0x0250, OTHER),
    (0x0370, "Greek"),
    (0x0400, "Cyrillic"),
    (0x0530, "Armenian"),
    (0x0590, "Hebrew"),
    (0x0600, "Arabic"),
    (0x0700, OTHER),
    (0x0750, "Arabic"),
    (0x0780, OTHER),
    (0x0900, "Indic"),
    (0x0E00, "Thai"),
    (0x0E80, OTHER),
    (0x10A0, "Georgian"),
    (0x1100, "Hangul"),
    (0x1200, OTHER),
    (0x1E00, "Latin"),
    (0x1F00, "Greek"),
    (0x2000, OTHER),
    (0x3040, "Kana"),
    (0x3100, OTHER),
    (0x3130, "Hangul"),
    (0x3190, OTHER),
    (0x3400, "Han"),
    (0xA000, OTHER),
    (0xAC00, "Hangul"),
    (0xD7B0, OTHER),
    (0xF900, "Han"),
    (0xFB00, "Latin"),
    (0xFB10, OTHER),
    (0xFB50, "Arabic"),
    (0xFE00, OTHER),
    (0xFF21, "Latin"),
    (0xFF66, "Kana"),
    (0xFFA0, OTHER),
    (0x20000, "Han"),
    (0x323B0, OTHER),
)
_STARTS = tuple(start for start, _ in _BLOCKS)
_PRIMARY = re.compile(r"[A-Za-z]{2}(?![A-Za-z])")
UNTOLD = "untold"


def script_of(text: str) -> str:
    """Return the script of most of the text's letters, `NO_LETTERS` if it has none.

    Japanese is Kana where it has any, as Han is written in it too. At most the first 1,000
    characters are looked at.
    """
    letters = (char for char in text[:_LOOKED_AT] if char.isalpha())
    found = Counter(_BLOCKS[bisect_right(_STARTS, ord(char)) - 1][1] for char in letters)
    if not found:
        return NO_LETTERS
    script = max(found, key=lambda name: (found[name], name))
    return "Kana" if script == "Han" and found["Kana"] else script


def language_of(comment: Comment) -> str:
    """Return the language that the site named, two letters or `UNTOLD`, a slash, and the script.

    The two together, because a site may name the language of its blog and not the comment's: then
    another script still shows. Another language of the same script does not.
    """
    told = _PRIMARY.match(comment.language or "")
    return f"{told[0].lower() if told else UNTOLD}/{script_of(comment.text)}"
