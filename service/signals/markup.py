"""Takes the marks off a text that readers see none of: HTML tags, BBCode, emphasis."""

from __future__ import annotations

import re

INLINE = (
    "a|abbr|b|cite|code|del|em|font|i|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|tt|u|wbr"
)
BLOCK = (
    "blockquote|br|center|dd|details|div|dl|dt|figure|h[1-6]|hr|li|ol|p|pre|summary|table|tbody"
    "|td|th|thead|tr|ul"
)
BBCODE = re.compile(
    r"\[/?(?:b|i|u|s|url|img|code|list|size|color|font|center|left|right|align|email|spoiler|sup"
    r"|sub|li|ul|ol|table|tr|td|th|quote|\*)(?:=[^\[\]\s]{0,300})?\]",
    re.IGNORECASE,
)
# "a < b" opens no tag; from "<" to the next one each character is read once.
_TAG = re.compile(
    rf"</?(?:(?P<block>{BLOCK})|{INLINE})(?:\s[^<>]*+)?/?>|<!--[^<>]*+>", re.IGNORECASE
)
_EMPHASIS = re.compile(r"[*\\`~]")


def without_markup(text: str) -> str:
    """Return the text without tags; a block's part words, others stand inside them unseen.

    Takes time linear in the length.
    """
    text = without_tags(text)
    return _EMPHASIS.sub("", BBCODE.sub("", text) if "[" in text else text)


def without_tags(text: str) -> str:
    """Return the text without the tags and comments of HTML; see `without_markup`."""
    return _TAG.sub(lambda tag: " " if tag["block"] else "", text) if "<" in text else text
