"""Names what a comment's history is remembered by, the same in every history store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.stores.limits import MAX_DOMAINS_PER_COMMENT

DomainsOf = Callable[[Comment], Sequence[str]]
"""Returns the registered domains that a comment links to."""


def no_domains(_comment: Comment) -> Sequence[str]:
    """Return nothing: the choice where links are not looked at."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryKeys:
    """The names of the tallies that a comment belongs to, None where a part is unknown."""

    address: str | None
    network: str | None
    email: str | None
    domains: tuple[str, ...]

    def all(self) -> tuple[str, ...]:
        """Return every name: the tallies in which a decision on the comment counts."""
        senders = (self.address, self.network, self.email)
        return (*(name for name in senders if name is not None), *self.domains)


def history_keys(comment: Comment, domains_of: DomainsOf) -> HistoryKeys:
    """Return the names of the tallies that a comment belongs to."""
    sender = comment.sender
    return HistoryKeys(
        address=_sender_key("address", sender.address_key),
        network=_sender_key("network", sender.network_key),
        email=_sender_key("email", sender.email_key),
        domains=_domain_keys(domains_of(comment)),
    )


def history_from(keys: HistoryKeys, record_of: Callable[[str], Record]) -> History:
    """Return a comment's history from the tallies by name."""
    address, network, email = (
        record_of(key) if key is not None else Record()
        for key in (keys.address, keys.network, keys.email)
    )
    domains = worst_record(record_of(key) for key in keys.domains)
    return History(
        address=Standing(everywhere=address),
        network=Standing(everywhere=network),
        email=Standing(everywhere=email),
        domains=Standing(everywhere=domains),
    )


def worst_record(tallies: Iterable[Record]) -> Record:
    """Return the tally that speaks most against a comment, an empty one if there is none.

    A sum would let one well-known domain launder the bad one beside it.
    """
    return max(tallies, key=lambda t: (t.rejected - t.approved, t.rejected), default=Record())


def _sender_key(kind: str, keyed_hash: str | None) -> str | None:
    return f"{kind}:{keyed_hash}" if keyed_hash else None


def _domain_keys(domains: Sequence[str]) -> tuple[str, ...]:
    # Digests, because a domain is hostile text of any length.
    different = list(dict.fromkeys(domain.lower() for domain in domains))
    return tuple(
        f"domain:{hashlib.sha256(domain.encode('utf-8', 'surrogatepass')).hexdigest()}"
        for domain in different[:MAX_DOMAINS_PER_COMMENT]
    )
