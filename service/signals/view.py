"""One text, looked at once: what several detectors need from it, found when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from service.domain.comment import Comment
from service.signals.links import Link, find_links


@dataclass(frozen=True, kw_only=True)
class TextView:
    """A text with its links, found once however many detectors ask."""

    text: str

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Return every link, those in code and quotations included."""
        return find_links(self.text)

    @cached_property
    def open_links(self) -> tuple[Link, ...]:
        """Return the links that the writer offers: not those in code or quotations."""
        return tuple(link for link in self.links if not link.shielded)


# Small on purpose: it serves the detectors that look at one comment after another, no more.
@lru_cache(maxsize=8)
def view_of_text(text: str) -> TextView:
    """Return the view of a text; a pure function, remembered for the last few texts."""
    return TextView(text=text)


def view_of(comment: Comment) -> TextView:
    """Return the view of a comment's text."""
    return view_of_text(comment.text)
