"""Counts an author's name, and the host of a homepage, into sparse vectors: letters and shape.

Each is a member of its own: sources to learn from either give names and homepages or have none, so
a table over all would take any, or its absence, for a hint. Without a name or a homepage that
member says nothing.
"""

from __future__ import annotations

import re
import unicodedata

from models.features import (
    HOST_SEED,
    MAX_HOST_CHARS,
    NAME_SEED,
    Features,
    hash_chars,
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
# Shorter words are shared by chance.
_AGREEING_CHARS = 4
# Beside properties of up to 0.5.
_NGRAM_SCALE = 1.5


def count_name(inputs: ModelInput) -> Features | None:
    """Return the vector of an author's name, None where there is none."""
    name = unicodedata.normalize("NFKC", inputs.author_name[:MAX_NAME_CHARS]).strip()
    if not name:
        return None
    return join_features(
        [
            properties_block(_shape(name, inputs)),
            scaled_block(hash_name(name.casefold(), NAME_SEED), _NGRAM_SCALE),
        ]
    )


def count_host(inputs: ModelInput) -> Features | None:
    """Return the vector of the host of an author's homepage, None where there is none."""
    host = inputs.author_host[:MAX_HOST_CHARS].removeprefix("www.").casefold()
    if not host:
        return None
    own, _, _ = host.rpartition(".")
    name = {w.casefold() for w in _WORD.findall(inputs.author_name[:MAX_NAME_CHARS])}
    long = {w for w in name if len(w) >= _AGREEING_CHARS}
    parts = [w for w in re.split(r"[.-]", own) if len(w) >= _AGREEING_CHARS]
    text = normalise(inputs.text)
    shape = (
        any(w in host for w in long),
        bool(own) and own in text,
        any(w in text for w in parts),
        own.count(".") > 0,
        "-" in own,
        own.count("-") > 1,
        any(map(str.isdigit, own)),
        len(own) <= 6,
        len(own) >= 14,
        len(own) >= 22,
    )
    return join_features(
        [
            properties_block([float(mark) for mark in shape]),
            scaled_block(hash_chars(host.replace(".", " "), HOST_SEED), _NGRAM_SCALE),
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
    # Fixed for a format, though versions with a table of hosts learn nothing from it here.
    host = inputs.author_host.removeprefix("www.").casefold()
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
        any(w in host for w in long),
        bool(host) and not any(w in host for w in long),
        any(w in text for w in long),
        len(long) >= 2 and all(w in text for w in long),
        any(w in title for w in long),
        not letters,
    )
    return [float(mark) for mark in marks]
