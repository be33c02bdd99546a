"""Exports and erases a person's data, and deletes old data."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from service.domain.case import SpamOnly
from service.domain.comment import CommentId, Sender
from service.domain.errors import invalid_input
from service.domain.sender import Conduct, Person, make_sender
from service.moderation.acts import make_act
from service.moderation.announcing import withdraw
from service.ports.audit import AuditEntry
from service.ports.services import Services

log = logging.getLogger(__name__)

# The comments of a transaction: some tenths of a second of SQLite's write lock.
_PORTION = 200
_KEYS_PORTION = 500
# Only a machine writes more than that; the export says that it is cut.
MAX_EXPORTED = 100_000


def find_person(
    services: Services,
    *,
    address: str | None = None,
    email: str | None = None,
    name: str | None = None,
) -> Person:
    """Return a person's keys, older ones too. Raises `InvalidInputError`."""
    try:
        made = make_sender(secrets=services.sender_secrets, address=address, email=email, name=name)
    except ValueError:
        remedy = "give one such as 192.0.2.7 or 2001:db8::7"
        raise invalid_input("--address", "is not an IP address", remedy) from None
    sender = _person_keys(made)
    if sender == Sender() and not name:
        fields, missing = "--email, --name, --address", "nothing says who is to be forgotten"
        raise invalid_input(fields, missing, "give at least one of them")
    return Person(sender=sender, author_name=name or None)


def export_person(person: Person, services: Services) -> Iterator[Mapping[str, Any]]:
    """Yield all data about a person, one comment at a time with its verdict and decisions.

    Acts of their accounts and their list entries follow, last the number of comments.
    """
    after, exported = None, 0
    accounts: dict[str, Conduct] = {}
    now = services.clock()
    while exported < MAX_EXPORTED:
        ids = services.personal_data.find(person, after=after, limit=_PORTION)
        if not ids:
            break
        after = ids[-1]
        for case in services.cases.find(ids):
            exported += 1
            accounts.update(services.history.conducts(_account_of(case.comment.sender), now=now))
            decisions = [asdict(one) for one in case.decisions]
            for one in decisions:
                # The exported file keeps the old name.
                one["stroke_id"] = one.pop("bulk_decision_id")
            yield {
                "kind": "comment",
                "comment": asdict(case.comment),
                "verdict": asdict(case.verdict) if case.verdict else None,
                "decisions": decisions,
                "reports": [asdict(report) for report in case.reports],
                "campaign_id": case.campaign_id,
                "second_opinion": asdict(case.second_opinion) if case.second_opinion else None,
                "appeal": asdict(case.appeal) if case.appeal else None,
            }
    accounts.update(services.history.conducts(person.sender, now=now))
    for name, conduct in sorted(accounts.items()):
        yield {"kind": "account", "account": name, "conduct": asdict(conduct)}
    for entry in services.list_entries.known_by(_entry_keys(person.sender)):
        yield {"kind": "list_entry", "list_entry": asdict(entry)}
    more = bool(services.personal_data.find(person, after=after, limit=1)) if after else False
    yield {"kind": "end", "comments": exported, "cut": more}


def erase_person(
    person: Person,
    services: Services,
    *,
    by: str,
    at_most: int | None = None,
    show: Callable[[int], None] = lambda _: None,
) -> int:
    """Erase the text, names, links and keys of a person's comments; return how many were erased.

    Histories are erased first; verdicts, decisions and the log stay. Each portion has a log entry;
    nothing is logged if nothing of the person was known.
    The same call continues after an interruption, or `at_most`. Raises `StoreUnavailableError`.
    """

    def act(count: int) -> AuditEntry:
        detail = f"{comments_in_words(count)} erased"
        return make_act(services, actor=by, act="erase person", subject="person", detail=detail)

    entries = services.list_entries.known_by(_entry_keys(person.sender))
    known = entries or services.history.conducts(person.sender, now=services.clock())
    _forget_records(person.sender, services)
    erased = 0
    for portion in _portions(person, services, size=_PORTION):
        if not portion and not known:
            # Nothing was there to erase, and the log says nothing else.
            break
        ids = portion if at_most is None else portion[: at_most - erased]
        erased += withdraw(ids, services, at=services.clock(), act=act)
        show(erased)
        if erased == at_most:
            break
    # A decision or a batch in progress may have counted the person again.
    _forget_records(person.sender, services)
    if at_most is None or erased < at_most:
        services.search.drop_left_out()
    log.info("a person's comments were erased", extra={"comments": erased})
    return erased


def forget_sender(sender: Sender, services: Services, *, by: str) -> int:
    """Remove a sender's records and the sender keys of their comments; return how many comments.

    Comments and list entries are found by address and e-mail, comments by name too. All their keys
    are removed, in portions with a log entry each; all else stays. An interrupted call can be
    repeated. Raises `StoreUnavailableError`.
    """
    _forget_records(sender, services)
    erased = 0
    for ids in _portions(Person(sender=sender), services, size=_KEYS_PORTION):
        detail = f"{comments_in_words(len(ids))} lost the keys of their sender"
        act = make_act(services, actor=by, act="forget sender", subject="sender", detail=detail)
        services.personal_data.erase_senders(ids, act=act)
        erased += len(ids)
    # A decision or a batch in progress may have counted the person again.
    _forget_records(sender, services)
    log.info("a sender was forgotten", extra={"comments": erased})
    return erased


def comments_in_words(count: int) -> str:
    return f"{count:,} comment{'' if count == 1 else 's'}"


def _portions(person: Person, services: Services, *, size: int) -> Iterator[list[CommentId]]:
    """Yield the ids of a person's comments, and delete the histories of the comments' accounts.

    Without any, an empty portion is yielded, because the request itself is logged.
    """
    after = None
    while ids := services.personal_data.find(person, after=after, limit=size):
        senders = {case.comment.sender for case in services.cases.find(ids)}
        for account in {_account_of(one) for one in senders} - {Sender()}:
            services.history.forget(account)
        yield ids
        after = ids[-1]
    if after is None:
        yield []


def _forget_records(person: Sender, services: Services) -> None:
    services.history.forget(person)
    services.list_entries.forget(_entry_keys(person))


def _account_of(sender: Sender) -> Sender:
    return replace(_person_keys(sender), address_key=None)


def _entry_keys(person: Sender) -> list[str]:
    return [key for one in person.generations for key in (one.address_key, one.email_key) if key]


def _person_keys(sender: Sender) -> Sender:
    """Return the keys that identify one person: address, e-mail, name and account."""
    older = sender.before_rotation
    return Sender(
        address_key=sender.address_key,
        email_key=sender.email_key,
        name_key=sender.name_key,
        account_key=sender.account_key,
        before_rotation=_person_keys(older) if older else None,
    )


# Deleting so many holds SQLite's write lock for some hundredths of a second.
_MOST_AT_ONCE = 1_000
# The comments of a transaction; other writers wait for at most one.
_MOST_COMMENTS_AT_ONCE = 200
# Deliveries are retried for some days, and a comment in a lost queue may arrive later.
_DELETIONS_KEPT = timedelta(days=30)
# By then the client of an unkept comment has its verdict. Older ones are not searched.
_UNKEPT_ANSWERED, _UNKEPT_SOUGHT = timedelta(minutes=10), timedelta(days=1)


def prune_deliveries(services: Services, *, keep: timedelta) -> int:
    """Delete up to 1,000 messages delivered longer ago than `keep`; return how many.

    Safe to repeat. Raises `StoreUnavailableError`.
    """
    before = services.clock() - keep
    pruned = services.deliveries.prune(delivered_before=before, limit=_MOST_AT_ONCE)
    if pruned:
        log.info("old deliveries were deleted", extra={"deliveries": pruned})
    return pruned


def prune_comments(
    services: Services,
    *,
    keep: timedelta | None,
    keep_spam: timedelta | None,
    keep_held_spam: timedelta | None,
) -> int:
    """Withdraw comments older than `keep`, spam older than `keep_spam`; return how many.

    Undecided held spam is withdrawn when it is older than `keep_held_spam`. None keeps forever.
    Comments that wait for a verdict or a person stay, and approved comments never count as spam.
    Comments that were not to be kept are always withdrawn. Takes up to 200 of each. Also forgets
    deletions whose comments did not come within 30 days. Safe to repeat. Raises
    `StoreUnavailableError`.
    """
    now, most = services.clock(), _MOST_COMMENTS_AT_ONCE
    services.comments.prune_deletions(noted_before=now - _DELETIONS_KEPT)
    since, before = now - _UNKEPT_SOUGHT, now - _UNKEPT_ANSWERED
    unkept = services.comments.find_unkept(since=since, before=before, limit=most)
    pruned = withdraw(unkept, services, at=now) if unkept else 0
    ages = ((keep, None), (keep_spam, SpamOnly.NOT_APPROVED), (keep_held_spam, SpamOnly.HELD))
    for age, only in ages:
        if age is not None:
            old = services.personal_data.find_old(received_before=now - age, only=only, limit=most)
            pruned += withdraw(old, services, at=now, only=only) if old else 0
    if pruned:
        log.info("old comments were withdrawn", extra={"comments": pruned})
    return pruned
