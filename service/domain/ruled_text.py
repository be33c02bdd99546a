"""What is remembered of a text that a person ruled on, so that edits can be measured by it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledText:
    """A text that somebody approved or rejected, in salted digests: not a word can be read in it.

    `words` are its words in order, `spellings` what a misspelling of each would share with it, 0
    for words too short to tell. `ways` are what leads elsewhere or sells: links, hosts, contacts,
    numbers. `domains` are those of links, `offers` is True if it offered something.
    """

    approved: bool
    by: str
    words: tuple[int, ...] = ()
    spellings: tuple[int, ...] = ()
    ways: tuple[int, ...] = ()
    domains: tuple[int, ...] = ()
    offers: bool = False
