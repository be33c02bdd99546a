"""Finds the moderators' entry that a comment must follow; web/LISTS.md has the table."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from service.domain.comment import Comment, Sender
from service.domain.list_entry import Effect, EntryKind, ListEntry
from service.signals.hosts import domain_of, host_of, named_hosts
from service.signals.text import alike_words, readings_of
from service.signals.view import view_of

# The more precise kind wins: a person before a domain, a domain before a network, a phrase last.
_RANKS = {
    EntryKind.EMAIL: 0,
    EntryKind.ADDRESS: 0,
    EntryKind.DOMAIN: 1,
    EntryKind.MAIL_DOMAIN: 1,
    EntryKind.NETWORK: 2,
    EntryKind.PHRASE: 3,
}
_NAMED = frozenset({EntryKind.DOMAIN, EntryKind.MAIL_DOMAIN})

_Key = tuple[EntryKind, str]


class ListEntryIndex:
    """Entries made ready to be compared with many comments; never changed once it is made."""

    def __init__(self, entries: Iterable[ListEntry] = ()) -> None:
        self._by_key: defaultdict[_Key, list[ListEntry]] = defaultdict(list)
        # By whole words, so that "cialis" is not found in "specialist".
        self._by_phrase: defaultdict[tuple[str, ...], list[ListEntry]] = defaultdict(list)
        for entry in entries:
            for key in entry.keys:
                if entry.kind is EntryKind.PHRASE:
                    self._by_phrase[alike_words(key)].append(entry)
                else:
                    self._by_key[entry.kind, key].append(entry)
        self._kinds = {kind for kind, _ in self._by_key}
        self._lengths: defaultdict[str, set[int]] = defaultdict(set)
        for phrase in filter(None, self._by_phrase):
            self._lengths[phrase[0]].add(len(phrase))

    def find(self, comment: Comment, *, at: datetime) -> ListEntry | None:
        """Return the entry in force at this moment that decides, or None if none matches.

        The one whose kind is closest stands, then the longer domain, then the site's own before
        one of all sites, then allow before block, then the newest.
        """

        def counts(entry: ListEntry) -> bool:
            return entry.site_id in (None, comment.site_id) and entry.is_in_force(at)

        matching = [entry for entry in self._matching(comment) if counts(entry)]
        if EntryKind.DOMAIN in self._kinds:
            matching += self._of_links(comment, counts)
        return min(matching, key=_precedence, default=None)

    def _matching(self, comment: Comment) -> Iterator[ListEntry]:
        """Yield the matching entries but those of links, of all sites, expired ones too."""
        if self._kinds:
            for key in _sender_keys(comment.sender):
                yield from self._by_key.get(key, ())
        if EntryKind.MAIL_DOMAIN in self._kinds and comment.sender.email_domain:
            yield from self._covering(EntryKind.MAIL_DOMAIN, comment.sender.email_domain)
        if self._lengths:
            readings = (*readings_of(comment.text), *readings_of(comment.author.name or ""))
            for phrase in {one for words in readings for one in self._phrases_in(words)}:
                yield from self._by_phrase[phrase]

    def _phrases_in(self, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield the phrases of entries that occur in a row of words, in time linear in these."""
        for start, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                phrase = words[start : start + length]
                if phrase in self._by_phrase:
                    yield phrase

    def _of_links(self, comment: Comment, counts: Callable[[ListEntry], bool]) -> list[ListEntry]:
        """Return the entries for what a comment links to; one domain never vouches for another.

        It is allowed only if all that it links to is allowed. It is blocked if any of it is, or
        anything that it names at all: in quotations and code, behind a redirector, disguised.
        """
        offered = _offered_hosts(comment)
        matching: list[ListEntry] = []
        all_allowed = True
        for host in offered:
            of_host = list(filter(counts, self._covering(EntryKind.DOMAIN, host)))
            all_allowed = all_allowed and any(e.effect is Effect.ALLOW for e in of_host)
            matching += of_host
        for host in _named_hosts(comment) - offered.keys():
            of_host = list(filter(counts, self._covering(EntryKind.DOMAIN, host)))
            decides = min(of_host, key=_precedence, default=None)
            if decides is not None and decides.effect is Effect.BLOCK:
                all_allowed = False
                matching.append(decides)
        return [e for e in matching if all_allowed or e.effect is Effect.BLOCK]

    def _covering(self, kind: EntryKind, host: str) -> Iterator[ListEntry]:
        """Yield the entries for a host and for all the domains that it lies in."""
        name = host.lower().rstrip(".")
        while name:
            yield from self._by_key.get((kind, name), ())
            name = name.partition(".")[2]


def _precedence(entry: ListEntry) -> tuple[int, int, bool, bool, float, str]:
    labels = entry.keys[0].count(".") if entry.kind in _NAMED else 0
    return (
        _RANKS[entry.kind],
        -labels,
        entry.site_id is None,
        entry.effect is Effect.BLOCK,
        -entry.added_at.timestamp(),
        entry.id,
    )


def _sender_keys(sender: Sender) -> Iterator[_Key]:
    for known in sender.generations:
        for kind, key in (
            (EntryKind.EMAIL, known.email_key),
            (EntryKind.ADDRESS, known.address_key),
            (EntryKind.NETWORK, known.network_key),
            (EntryKind.NETWORK, known.wide_network_key),
        ):
            if key:
                yield kind, key


def _offered_hosts(comment: Comment) -> dict[str, None]:
    """Return the hosts that a comment links to, its author's too; not quoted ones, nor its site."""
    found = [link.host for link in view_of(comment).open_links]
    found.append(host_of(comment.author.url or ""))
    return dict.fromkeys(_elsewhere(comment, found))


def _named_hosts(comment: Comment) -> frozenset[str]:
    """Return the hosts that a comment or its author's name or URL contains, its site's left out."""
    parts = (comment.text, comment.author.name or "", comment.author.url or "")
    return frozenset(_elsewhere(comment, named_hosts("\n".join(parts), loosely=True)))


def _elsewhere(comment: Comment, hosts: Iterable[str]) -> Iterator[str]:
    own = domain_of(host_of(comment.post.url or ""))
    return (host for host in hosts if host and domain_of(host) != own)
