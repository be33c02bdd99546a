"""Counts an author's name into a sparse vector: its letters and its shape.

Names have a linear member of their own. A data source gives names for all its comments or for none,
so one table for everything would learn the sources.
"""

import re
import unicodedata

from models.features import (
    Features,
    hash_name,
    join_features,
    properties_block,
    scaled_block,
)
from models.inputs import ModelInput
from models.text import normalise

# A name may be a whole advertisement; its beginning is enough.
MAX_NAME_CHARS = 120
_WORD = re.compile(r"[^\W_]+")
_DOMAIN = re.compile(r"[\w-]{2,63}\.[a-z]{2,12}\b|https?:|www\.", re.IGNORECASE)
# Shorter words agree by chance.
_AGREEING_CHARS = 4
# Relative to properties of up to 0.5.
_NGRAM_SCALE = 1.5


def count_name(inputs: ModelInput) -> Features | None:
    """Return the vector of an author's name, None if there is no name."""
    name = unicodedata.normalize("NFKC", inputs.author_name[:MAX_NAME_CHARS]).strip()
    if not name:
        return None
    return join_features(
        [
            properties_block(_shape(name, inputs)),
            scaled_block(hash_name(name.casefold()), _NGRAM_SCALE),
        ]
    )


def _shape(name: str, inputs: ModelInput) -> list[float]:
    """Return properties of a name, each 0 or 1."""
    words = _WORD.findall(name)
    letters = [c for c in name if c.isalpha()]
    digits = sum(map(str.isdigit, name))
    other = sum(c > "\u024f" for c in letters)
    mixed = any(w[1:] != w[1:].lower() and w != w.upper() for w in words)
    long = {w.casefold() for w in words if len(w) >= _AGREEING_CHARS}
    text = normalise(inputs.text)
    title = normalise(inputs.post_title)
    marks = (
        name.islower(),
        name.isupper() and len(letters) > 1,
        name.istitle(),
        mixed,
        len(words) == 1,
        len(words) == 2,
        len(words) == 3,
        len(words) >= 4,
        len(name) <= 3,
        len(name) >= 20,
        len(name) >= 35,
        digits > 0,
        digits >= 3,
        "." in name,
        "-" in name,
        "_" in name,
        "@" in name,
        bool(_DOMAIN.search(name)),
        bool(letters) and other == len(letters),
        0 < other < len(letters),
        bool(letters) and other == len(letters) and text.isascii(),
        # Places of former properties, so that the tables' ids stay valid.
        False,
        False,
        any(w in text for w in long),
        len(long) >= 2 and all(w in text for w in long),
        any(w in title for w in long),
        not letters,
    )
    return [float(mark) for mark in marks]
