"""Reads the word lists in the TOML files beside this module, which translators edit."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def load_lists(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


LISTS = load_lists("words.toml")


def wordset(*lines: str) -> frozenset[str]:
    """Return the set of all words in the lines, parted by white space."""
    return frozenset(word for line in lines for word in line.split())


def word_list(name: str) -> frozenset[str]:
    """Return the words of a list of words.toml."""
    return wordset(*LISTS[name])


def any_of(words: Sequence[str], unspaced: Sequence[str] = ()) -> re.Pattern[str]:
    """Return a pattern of entries written as in cues.toml: "found*", "that_is_why"."""
    entries = sorted(wordset(*words), key=len, reverse=True)
    spaced = "|".join(one[:-1] if one[-1] == "*" else rf"{one}\b" for one in entries)
    spaced = spaced.replace("_", " ").replace("'", "['’]")
    return re.compile(
        rf"\b(?:{spaced})|{'|'.join(' '.join(unspaced).split()) or '(?!)'}", re.IGNORECASE
    )
