"""Finds invisible characters that neither scripts nor emoji need: they hold messages."""

import re
from unicodedata import combining

# Unicode's Default_Ignorable_Code_Point, and the marks of interlinear notes.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# England, Scotland and Wales: few apps draw the flags of other regions, and no other tags.
_TAGS = {n: 0xE0000 + n for n in (*range(48, 58), *range(97, 123))}
REGION_FLAG = f"🏴(?:{'gbeng|gbsct|gbwls'.translate(_TAGS)})\U000e007f"
_PICTURE = "[©®‼⁉\u2122-\u2bff〰〽㊗㊙\U0001f000-\U0001faff][🏻-🏿]?[\ufe0e\ufe0f]?"
_ARABIC = "[\u0600-\u061b\u061d-\u08ff\U00010ac0-\U00010fff\U0001e900-\U0001e95f]"
_VIRAMA = f"[{''.join(c for c in map(chr, range(0x900, 0x12000)) if combining(c) == 9)}]"
# Emoji, the joiners of words, and the forms of Mongolian letters.
SPELT = (
    f"{REGION_FLAG}|{_PICTURE}(?:\u200d{_PICTURE}){{0,4}}|[0-9#*]\ufe0f\u20e3"
    f"|(?<={_ARABIC})\u200c{{1,2}}(?!\u200c)|(?<!\u200c)\u200c{{1,2}}(?={_ARABIC})"
    f"|(?<={_ARABIC})\u200d(?!{_ARABIC})|(?<!{_ARABIC})\u200d(?={_ARABIC})"
    f"|[\u200c\u200d](?:(?<={_VIRAMA}.)|(?={_VIRAMA}))|(?<=[\u1807-\u180a\u1810-\u18aa])[\u180b-\u180f\u200d]"
)
_SYLLABLE = "[\u0900-\u109f\u1100-\u11ff\u1780-\u17ff\u1900-\u1cff\u2e80-\u9fff\ua800-\ud7ff]"
# Soft hyphens, breaks between words of scripts without spaces; `ROWS` adds a file's first mark.
_LAID_OUT = (
    f"\u00ad(?:(?<=[\\w\u0300-\u08ff]{{2}}.)|(?<={_SYLLABLE}.))(?=[\\w\u0300-\u08ff]{{2}}|{_SYLLABLE})"
    f"|\u200b(?<![{INVISIBLE}].)(?![{INVISIBLE}])(?:(?<={_SYLLABLE}.)|(?=\\W?{_SYLLABLE}))"
)
_TURN, _TURNED = "[\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069]", "[\u0590-\u05ff\u0620-\u08ff]"
# Isolated names, variants of ideographs, marks beside Hebrew and Arabic. Many make an alphabet.
_FEW = (
    f"(?P<few>(?:(?P<turn>[\u202a\u202b])|[\u2066-\u2068])"
    f"(?=(?P<name>(?:{SPELT}|[^{INVISIBLE}\\n]){{1,80}}+(?(turn)\u202c|\u2069)))|"
    "(?<=[\u2200-\u22ff\u2a00-\u2aff\u3001-\u9fff\uf900-\ufaff\uff00-\uff1f\U00020000-\U0003ffff])"
    "[\ufe00-\ufe02\U000e0100-\U000e011f]"
    f"|(?:(?<={_TURNED})|(?<={_TURNED}.)|(?<={_TURNED}..)|(?={_TURN}{{1,2}}.{{0,40}}{_TURNED}))"
    f"(?:(?<!\\w){_TURN}{{1,2}}(?!{_TURN})|{_TURN}{{1,2}}(?!\\w|{_TURN})))(?P=name)?"
)
_FLAG = f"(?<=🏴){'[a-z][a-z][0-9a-z][0-9a-z]?[0-9a-z]?'.translate(_TAGS)}(?P<flag>\U000e007f)"
# `str.isprintable` refuses them.
_JOINERS = dict.fromkeys((0x200C, 0x200D))
ROWS = re.compile(f"(?P<needed>\\A\ufeff|{SPELT}|{_LAID_OUT}|{_FEW})|{_FLAG}|[{INVISIBLE}]+")


def without_unseen(text: str) -> str:
    """Return the text without the invisible characters that it does not need."""
    return text if text.isascii() else ROWS.sub(r"\g<needed>", text)


def is_printable(name: str) -> bool:
    """Return True for printable characters and the joiners that scripts and emoji need."""
    return name.translate(_JOINERS).isprintable() and without_unseen(name) == name
