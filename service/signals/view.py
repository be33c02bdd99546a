"""One text, looked at once: what several detectors need from it, found when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from service.domain.comment import Comment
from service.signals.contacts import Contact, find_contacts
from service.signals.cues import Hit, find_cues
from service.signals.links import Link, find_links
from service.signals.plain import PlainText, plain_of
from service.signals.regions import Range, inside, shielded_ranges
from service.signals.sentences import find_sentences
from service.signals.words import Word, find_words


@dataclass(frozen=True, kw_only=True)
class TextView:
    """A text with its parts, each found once however many detectors ask.

    All offsets are those of `text`, except in `plain`, `words` and `cues`: these speak of the
    plain text, and `plain.original` leads back.
    """

    text: str

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Return every link, those in code and quotations included."""
        return find_links(self.text)

    @cached_property
    def open_links(self) -> tuple[Link, ...]:
        """Return the links that the writer offers: not those in code or quotations."""
        return tuple(link for link in self.links if not link.shielded)

    @cached_property
    def shielded(self) -> tuple[Range, ...]:
        """Return the ranges of code and quotation."""
        return shielded_ranges(self.text)

    @cached_property
    def plain(self) -> PlainText:
        """Return the text without hidden characters and styled letters."""
        return plain_of(self.text)

    @cached_property
    def words(self) -> list[Word]:
        """Return the words of the plain text."""
        return find_words(self.plain.text)

    @cached_property
    def word_set(self) -> frozenset[str]:
        """Return the different words of the plain text."""
        return frozenset(word.text for word in self.words)

    @cached_property
    def cues(self) -> tuple[Hit, ...]:
        """Return the cues in the plain text, those in code and quotations left out."""
        hits = find_cues(self.plain.text, self.words)
        if not self.shielded:
            return hits
        return tuple(h for h in hits if not inside(self.shielded, self.original(h)[0]))

    @cached_property
    def contacts(self) -> tuple[Contact, ...]:
        """Return the contacts outside code and quotations."""
        return find_contacts(self.text, self.word_set, self.shielded)

    @cached_property
    def sentences(self) -> tuple[Range, ...]:
        """Return the sentences as ranges of the text; links are never cut."""
        return find_sentences(self.text, [(link.start, link.end) for link in self.links])

    def original(self, found: Hit | Word) -> Range:
        """Return where a word or cue of the plain text stands in the text."""
        return self.plain.original(found.start, found.end)


# Small on purpose: it serves the detectors that look at one comment after another, no more.
@lru_cache(maxsize=8)
def view_of_text(text: str) -> TextView:
    """Return the view of a text; a pure function, remembered for the last few texts."""
    return TextView(text=text)


def view_of(comment: Comment) -> TextView:
    """Return the view of a comment's text."""
    return view_of_text(comment.text)
