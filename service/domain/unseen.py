"""Finds invisible characters that neither scripts nor emoji need: they hold messages."""

import re
import unicodedata

# Unicode's Default_Ignorable_Code_Point, and the marks of interlinear notes.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# England, Scotland and Wales: the only visible use of Unicode's tags.
_REGIONS = (
    "".join(chr(0xE0000 + ord(one)) for one in name) for name in ("gbeng", "gbsct", "gbwls")
)
REGION_FLAG = f"🏴(?:{'|'.join(_REGIONS)})\U000e007f"
_PICTURE = "[©®‼⁉\u2122-\u2bff〰〽㊗㊙\U0001f000-\U0001faff][🏻-🏿]?[\ufe0e\ufe0f]?"
_ARABIC = "[\u0600-\u061b\u061d-\u08ff]"
_VIRAMA = f"[{''.join(c for c in map(chr, range(0x900, 0x1800)) if unicodedata.combining(c) == 9)}]"
# Emoji, the joiners of words, and the forms of Mongolian letters.
SPELT = (
    f"{REGION_FLAG}|{_PICTURE}(?:\u200d{_PICTURE}){{0,4}}|[0-9#*]\ufe0f\u20e3"
    f"|(?<={_ARABIC})\u200c|(?<={_ARABIC})\u200d(?!{_ARABIC})|(?<!{_ARABIC})\u200d(?={_ARABIC})"
    f"|(?<={_VIRAMA})[\u200c\u200d]|[\u200c\u200d](?={_VIRAMA})"
    "|(?<=[\u1807-\u180a\u1810-\u18aa])[\u180b-\u180f\u200d]"
)
# Soft hyphens, breaks between words of scripts without spaces, and the mark of a file's start.
_LAID_OUT = (
    "(?<=[^\\W\\d_]{2})\u00ad(?=[^\\W\\d_]{2})|\\A\ufeff"
    f"|(?<=[\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff])\u200b(?![{INVISIBLE}])"
)
_TURN, _TURNED = "[\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069]", "[\u0590-\u05ff\u0620-\u08ff]"
# Variants of ideographs, and marks of direction beside Hebrew and Arabic. Many make an alphabet.
_FEW = (
    "(?<=[\u2200-\u22ff\u2a00-\u2aff\u3001-\u9fff\uf900-\ufaff\uff00-\uff1f\U00020000-\U0003ffff])"
    "[\ufe00-\ufe02\U000e0100-\U000e011f]"
    f"|(?:(?<={_TURNED})|(?<={_TURNED}.)|(?<={_TURNED}..)|(?={_TURN}{{1,2}}.{{0,40}}{_TURNED}))"
    f"(?:(?<!\\w){_TURN}{{1,2}}(?!{_TURN})|{_TURN}{{1,2}}(?!\\w|{_TURN}))"
)
ROWS = re.compile(f"(?P<needed>{SPELT}|{_LAID_OUT}|(?P<few>{_FEW}))|[{INVISIBLE}]+")


def without_unseen(text: str) -> str:
    """Return the text without the invisible characters that it does not need."""
    return text if text.isascii() else ROWS.sub(r"\g<needed>", text)
