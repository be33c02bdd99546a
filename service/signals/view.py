"""The parts of a text that several detectors need, each found when it is first used."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from service.domain.comment import Comment, Post
from service.domain.verdict import Span
from service.signals.contacts import Contact, find_contacts
from service.signals.cues import Cue, Hit, find_cues
from service.signals.hosts import domain_of, host_of, is_reference, registered_domain
from service.signals.links import Link, find_links
from service.signals.text import (
    PlainText,
    Range,
    Word,
    find_sentences,
    find_words,
    inside,
    plain_of,
    shielded_ranges,
    words_of,
)

# A page with more marks than this helps nobody; the rest of the evidence is in the reason.
MAX_SPANS = 20


def spans_of(pairs: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    """Return the first `MAX_SPANS` pairs as spans, in the order of the text."""
    ordered = sorted({(start, end) for start, end in pairs if start < end})
    return tuple(Span(start=start, end=end) for start, end in ordered[:MAX_SPANS])


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
        return shielded_ranges(self.text)

    @cached_property
    def plain(self) -> PlainText:
        return plain_of(self.text)

    @cached_property
    def words(self) -> list[Word]:
        return find_words(self.plain.text)

    @cached_property
    def word_set(self) -> frozenset[str]:
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
    return view_of_text(comment.text)


def uncommon_links(comment: Comment) -> tuple[Link, ...]:
    """Return the offered links that lead neither to a common reference nor to the post's site."""
    return uncommon_links_of(comment.text, comment.post.url or "")


# Several detectors ask for the same comment, one after another.
@lru_cache(maxsize=8)
def uncommon_links_of(text: str, post_url: str) -> tuple[Link, ...]:
    """Return the same for a text and the address of the post under which it stands."""
    own_domain = domain_of(host_of(post_url))
    return tuple(
        link
        for link in view_of_text(text).open_links
        if link.domain != own_domain and not is_reference(link.host, link.domain)
    )


# Words of a full text that matter for overlap; longer excerpts add little and cost time.
MAX_POST_CHARS = 1_500


def text_of_post(post: Post) -> str:
    """Return a post's title and the beginning of its excerpt."""
    return f"{post.title or ''}\n{(post.excerpt or '')[:MAX_POST_CHARS]}"


# "Casinos" in the post is the casino of the comment.
_MOST_ENDING = 2


def is_about(post: Post, trade: str) -> bool:
    """Return True if a post names a trade that lives on spam, perhaps with another ending."""
    name = _in_words(trade)
    return any(
        (named.startswith(name) or name.startswith(named))
        and abs(len(named) - len(name)) <= _MOST_ENDING
        for named in _trades_of_post(post)
    )


@lru_cache(maxsize=64)
def _trades_of_post(post: Post) -> frozenset[str]:
    text = plain_of(text_of_post(post)).text
    hits = find_cues(text, find_words(text))
    return frozenset(_in_words(text[h.start : h.end]) for h in hits if h.cue is Cue.VICE)


def _in_words(trade: str) -> str:
    return " ".join(words_of(trade))


def linked_domains(comment: Comment) -> Sequence[str]:
    """Return the domains of the links in the text and of the author's URL, each once.

    Left out are links that the writer quotes rather than offers, and the site's own domain:
    linking to the blog one comments on says nothing about the sender.
    """
    own = registered_domain(host_of(comment.post.url or ""))
    found = [link.domain for link in view_of(comment).open_links]
    author = registered_domain(host_of(comment.author.url or ""))
    return tuple(dict.fromkeys(domain for domain in (*found, author) if domain and domain != own))
