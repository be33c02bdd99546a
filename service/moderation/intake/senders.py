"""Gives a comment its sender: address, e-mail and name end here, and leave keyed hashes."""

from __future__ import annotations

from dataclasses import replace

from service.domain.comment import Comment, ListKind, Sender
from service.domain.sender import make_sender
from service.ports.services import Services
from service.reputation.linked_domains import linked_domains


def with_sender(
    comment: Comment, services: Services, *, address: str | None, email: str | None
) -> Comment:
    """Return the comment with all that will ever be known of who sent it.

    The lists and the autonomous system are looked up now, as the address is forgotten after it.
    Raises `ValueError` for an address that is not an IP address.
    """
    secrets = services.sender_secrets
    sender = make_sender(
        address=address,
        email=email,
        name=comment.author.name,
        secret=secrets.present,
        secret_before=secrets.before,
        site_id=comment.site_id,
        account_id=comment.author.account_id,
    )
    system = services.find_system(address) if address else None
    return replace(
        comment, sender=_listed(replace(sender, system=system), comment, address, services)
    )


def _listed(sender: Sender, comment: Comment, address: str | None, services: Services) -> Sender:
    lists = services.reputation_lists
    # Finding the links costs more than all look-ups together, so nobody looks for nothing.
    domains = linked_domains(comment) if lists.has(ListKind.DOMAINS) else ()
    listings = lists.find(
        address=address,
        domains=domains,
        mail_domain=sender.email_domain,
        at=comment.received_at,
    )
    return replace(sender, listings=tuple(listings))
