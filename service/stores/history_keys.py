"""Names what a comment's history is remembered by, the same in every history store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

from service.domain.comment import Comment
from service.domain.history import History, Tally
from service.stores.limits import MAX_DOMAINS_PER_COMMENT

DomainsOf = Callable[[Comment], Sequence[str]]
"""Returns the registered domains that a comment links to."""


def no_domains(_comment: Comment) -> Sequence[str]:
    """Return nothing: the choice where links are not looked at."""
    return ()


def sender_keys(comment: Comment) -> tuple[str | None, str | None, str | None]:
    """Return the names of the address, network and e-mail tallies, None where unknown."""
    sender = comment.sender
    return (
        f"address:{sender.address_key}" if sender.address_key else None,
        f"network:{sender.network_key}" if sender.network_key else None,
        f"email:{sender.email_key}" if sender.email_key else None,
    )


def domain_keys(comment: Comment, domains_of: DomainsOf) -> tuple[str, ...]:
    """Return the names of the tallies of the domains a comment links to, each once.

    Names are digests: a domain is hostile text of any length.
    """
    domains = dict.fromkeys(domain.lower() for domain in domains_of(comment))
    first = list(domains)[:MAX_DOMAINS_PER_COMMENT]
    return tuple(
        f"domain:{hashlib.sha256(domain.encode('utf-8', 'surrogatepass')).hexdigest()}"
        for domain in first
    )


def all_keys(comment: Comment, domains_of: DomainsOf) -> tuple[str, ...]:
    """Return the names of every tally that a decision on this comment counts in."""
    known = (key for key in sender_keys(comment) if key is not None)
    return (*known, *domain_keys(comment, domains_of))


def history_from(
    comment: Comment, domains_of: DomainsOf, tally_of: Callable[[str], Tally]
) -> History:
    """Return a comment's history from the tallies by name."""
    address, network, email = (
        tally_of(key) if key is not None else Tally() for key in sender_keys(comment)
    )
    domains = worst_tally(tally_of(key) for key in domain_keys(comment, domains_of))
    return History(address=address, network=network, email=email, domains=domains)


def worst_tally(tallies: Iterable[Tally]) -> Tally:
    """Return the tally that speaks most against a comment, an empty one if there is none.

    A sum would let one well-known domain launder the bad one beside it.
    """
    return max(tallies, key=lambda t: (t.rejected - t.approved, t.rejected), default=Tally())
