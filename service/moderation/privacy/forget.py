"""Erases what would recognise a person again as the sender of comments."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from service.domain.comment import CommentId, Sender
from service.domain.errors import InvalidInputError, Problem
from service.domain.sender import make_sender
from service.moderation.admin.acts import make_act
from service.ports.services import Services

log = logging.getLogger(__name__)

# One transaction each.
_PORTION = 500


def find_sender(
    services: Services,
    *,
    address: str | None = None,
    email: str | None = None,
    name: str | None = None,
) -> Sender:
    """Return the keys that a person's comments are known by, those before the rotation too.

    Raises `InvalidInputError` for what is no address, and where nothing is given that has a key.
    """
    sender = make_keys(services, address=address, email=email, name=name)
    if not (sender.address_key or sender.email_key or sender.name_key):
        raise nobody_named()
    return sender


def make_keys(
    services: Services, *, address: str | None, email: str | None, name: str | None
) -> Sender:
    """Return the keys of what is given, none of what has none.

    Raises `InvalidInputError` for what is no address.
    """
    secrets = services.sender_secrets
    try:
        return make_sender(
            address=address,
            email=email,
            name=name,
            secret=secrets.present,
            secret_before=secrets.before,
        )
    except ValueError:
        problem = Problem(
            "--address", "is not an IP address", "give one such as 192.0.2.7 or 2001:db8::7"
        )
        raise InvalidInputError([problem]) from None


def nobody_named() -> InvalidInputError:
    """Return the refusal of a call that does not say whom it is about."""
    problem = Problem(
        "--email, --name, --address",
        "nothing says who is to be forgotten",
        "give at least one of them",
    )
    return InvalidInputError([problem])


def forget_sender(sender: Sender, services: Services, *, by: str) -> int:
    """Remove a person's records and the sender keys of their comments; return how many comments.

    A person's comments are those with the address, the e-mail or the name of `sender`; they lose
    every key of their sender, the mail domain too, in portions, each with its entry in the log.
    List entries that know the person's address or e-mail are deleted, allowing and blocking alike.
    Their words, names and links stay, and so do verdicts, decisions and the log. If a store fails,
    nothing is half done that the same call does not finish. Raises `StoreUnavailableError`.
    """
    # A network or a domain has others in it, whose records these are as well.
    person = person_keys(sender)
    forget_records(person, services)
    erased = 0
    while True:
        ids = services.comments.find_sent_by(person, limit=_PORTION)
        if erased and not ids:
            break
        forget_accounts(ids, services)
        # One entry is written even if nothing was found: that somebody asked is an act.
        services.comments.erase_senders(
            ids,
            act=make_act(
                services,
                actor=by,
                act="forget sender",
                subject="sender",
                detail=f"{len(ids)} comments lost the keys of their sender",
            ),
        )
        erased += len(ids)
        if not ids:
            break
    # A batch that was being judged meanwhile, or a decision, may have counted it once more.
    forget_records(person, services)
    log.info("a sender was forgotten", extra={"comments": erased})
    return erased


def forget_records(person: Sender, services: Services) -> None:
    """Drop what is kept of a person beside their comments: histories and list entries.

    Raises `StoreUnavailableError`.
    """
    services.history.forget(person)
    services.list_entries.forget(entry_keys(person))


def forget_accounts(ids: Sequence[CommentId], services: Services) -> None:
    """Drop what is kept of the accounts that these comments came from.

    Raises `StoreUnavailableError`.
    """
    senders = {case.comment.sender for case in services.cases.find(ids)}
    for account in {account_of(one) for one in senders} - {Sender()}:
        services.history.forget(account)


def account_of(sender: Sender) -> Sender:
    """Return the keys of a sender's account, of the e-mail and of the name."""
    return replace(person_keys(sender), address_key=None)


def entry_keys(person: Sender) -> list[str]:
    """Return the keys by which list entries know a person's address and e-mail."""
    return [key for one in person.generations for key in (one.address_key, one.email_key) if key]


def person_keys(sender: Sender) -> Sender:
    """Return the keys that are one person's alone: those of address, e-mail, name, account."""
    older = sender.before_rotation
    return Sender(
        address_key=sender.address_key,
        email_key=sender.email_key,
        name_key=sender.name_key,
        account_key=sender.account_key,
        before_rotation=person_keys(older) if older else None,
    )
