"""Changes the lists of allowed and blocked values, and previews entries."""

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import idna

from service.domain.case import Case, CaseFilter, Order
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem, invalid_input
from service.domain.list_entry import (
    MAX_PHRASE_CHARS,
    MAX_REASON_CHARS,
    Effect,
    EntryKind,
    ListEntry,
)
from service.domain.sender import SenderSecrets, make_sender, parse_address
from service.domain.text import normal_domain
from service.domain.verdict import Outcome
from service.moderation.acts import make_act
from service.ports.audit import AuditEntry
from service.ports.services import Services
from service.reputation.lists import is_local
from service.reputation.names import FREE_MAIL_DOMAINS
from service.signals.hosts import host_of, registered_domain
from service.signals.list_entry_index import ListEntryIndex
from service.signals.text import is_unspaced, readings_of

MAX_VALUE_CHARS = 320
# The networks stored with a comment; a wider network is listed as these, at most 256.
_WIDTHS4 = ((16, 24, 24),)
_WIDTHS6 = ((40, 48, 48), (56, 64, 64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """An entry's label, and the keys that comments are compared with."""

    label: str
    keys: tuple[str, ...]


def recognise(kind: EntryKind, value: str, secrets: SenderSecrets) -> Recognised | Problem:
    """Return the stored form of a value, or a problem that never quotes it."""
    given = value.strip()
    if not given:
        return _problem("is missing", "say what to list")
    if len(given) > MAX_VALUE_CHARS:
        return _problem("is too long", "give at most 320 characters")
    return _READERS[kind](given, secrets)


def _problem(problem: str, remedy: str) -> Problem:
    return Problem("value", problem, remedy)


_PRIVATE = _problem(
    "belongs to a private network", "give the public address that a comment came from"
)


def _email(given: str, secrets: SenderSecrets) -> Recognised | Problem:
    name, _, domain = given.rpartition("@")
    if not name or normal_domain(domain) is None or any(c.isspace() for c in given):
        return _problem("is no e-mail address", "give one such as mara@example.org")
    return _keyed(one.email_key for one in make_sender(secrets=secrets, email=given).generations)


def _address(given: str, secrets: SenderSecrets) -> Recognised | Problem:
    try:
        parsed = parse_address(given)
    except ValueError:
        return _problem("is no IP address", "give one such as 192.0.2.7 or 2001:db8::7")
    if is_local(parsed):
        return _PRIVATE
    senders = make_sender(secrets=secrets, address=given).generations
    return _keyed(one.address_key for one in senders)


def _network(given: str, secrets: SenderSecrets) -> Recognised | Problem:
    try:
        network = ipaddress.ip_network(given, strict=False)
    except ValueError:
        return _problem("is no network", "give one such as 192.0.2.0/24 or 2001:db8::/48")
    widths = _WIDTHS4 if network.version == 4 else _WIDTHS6
    if network.prefixlen < widths[0][0]:
        return _problem("is too wide a network", "give at most an IPv4 /16 or an IPv6 /40")
    if is_local(network.network_address):
        return _PRIVATE
    kept = [bits for low, high, bits in widths if low <= network.prefixlen <= high]
    if not kept:
        return _problem(
            "is of a width that no comment can be compared with",
            "give an IPv4 /16 to /24, an IPv6 /40 to /48 or /56 to /64, or a single address",
        )
    return _keyed(
        sender.wide_network_key if kept[0] == _WIDTHS6[0][2] else sender.network_key
        for part in network.subnets(new_prefix=kept[0])
        for sender in make_sender(secrets=secrets, address=str(part.network_address)).generations
    )


def _mail_domain(given: str, _secrets: SenderSecrets) -> Recognised | Problem:
    found = _domain(given.rpartition("@")[2], _secrets)
    if isinstance(found, Recognised) and registered_domain(found.label) in FREE_MAIL_DOMAINS:
        return _problem("is a mail provider that everybody uses", "list a single e-mail address")
    return found


def _domain(given: str, _secrets: SenderSecrets) -> Recognised | Problem:
    name = normal_domain(host_of(given))
    if name is None:
        return _problem("is no domain", "give one such as example.com")
    if not registered_domain(name):
        return _problem(
            "is a suffix under which everybody may register, or none at all",
            "give a domain that somebody registered, such as example.com",
        )
    bare = name.removeprefix("www.")
    name = bare if registered_domain(bare) else name
    keys = [name]
    # Links often write a domain in its own script.
    with suppress(idna.IDNAError, UnicodeError):
        keys.append(idna.decode(name))
    return Recognised(label=name, keys=tuple(dict.fromkeys(keys)))


def _phrase(given: str, _secrets: SenderSecrets) -> Recognised | Problem:
    label = " ".join(given.split())
    if len(label) > MAX_PHRASE_CHARS:
        return _problem("is too long a phrase", "give at most 200 characters")
    rows = [words for words in readings_of(label) if words]
    # In Chinese, Japanese and Korean most words have two characters.
    least = 2 if rows and is_unspaced(rows[0]) else 3
    if not rows or sum(len(word) for word in rows[0]) < least:
        return _problem(
            "is too short a phrase",
            "give at least 3 letters or digits, or 2 Chinese, Japanese or Korean characters",
        )
    return Recognised(label=label, keys=tuple(" ".join(words) for words in rows))


def _keyed(keys: Iterable[str | None]) -> Recognised:
    known = tuple(dict.fromkeys(key for key in keys if key))
    return Recognised(label=short_label(known[0]), keys=known)


def short_label(key: str) -> str:
    return key[:8]


_READERS: dict[EntryKind, Callable[[str, SenderSecrets], Recognised | Problem]] = {
    EntryKind.EMAIL: _email,
    EntryKind.ADDRESS: _address,
    EntryKind.NETWORK: _network,
    EntryKind.MAIL_DOMAIN: _mail_domain,
    EntryKind.DOMAIN: _domain,
    EntryKind.PHRASE: _phrase,
}


# All processes hold these in memory: about 1 kB each, 10 kB for the longest phrases.
MAX_IN_FORCE = 10_000
MAX_PHRASES_IN_FORCE = 1_000
PREVIEWED_COMMENTS = 1_000
# A phrase that contradicts a larger share is too common; few hits are no evidence.
MAX_AGAINST_SHARE = 0.02
_MIN_AGAINST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """A moderator's input. `expires_in` None means never, `site_id` None all sites."""

    effect: Effect
    kind: EntryKind
    value: str
    reason: str
    site_id: SiteId | None = None
    expires_in: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The effect of an entry on the newest comments, and people's decisions on matching ones.

    `n_against` of these, and `n_contrary` of all, are contrary by a ruling or by their verdict.
    """

    n_seen: int
    n_matched: int
    n_approved: int
    n_rejected: int
    n_against: int
    n_contrary: int

    @property
    def is_too_common(self) -> bool:
        """Return True if the entry contradicts so many comments that it must be a mistake."""
        most = max(_MIN_AGAINST - 1, self.n_contrary * MAX_AGAINST_SHARE)
        return self.n_against > most


def add_entry(new: NewEntry, services: Services, *, by: str) -> ListEntry:
    """Store an entry, which takes effect within a second, and return it.

    Raises `InvalidInputError`, also for one too many or too common, and `NotFoundError`.
    """
    entry = _read(new, services, by=by)
    is_phrase = entry.kind is EntryKind.PHRASE
    if is_phrase and _preview(entry, services).is_too_common:
        problem = "is found in too many comments that stand the other way"
        raise invalid_input("value", problem, "give a longer phrase")

    def choose(in_force: Sequence[ListEntry]) -> list[ListEntry]:
        phrases = sum(one.kind is EntryKind.PHRASE for one in in_force)
        is_full = is_phrase and phrases >= MAX_PHRASES_IN_FORCE
        if is_full or len(in_force) >= MAX_IN_FORCE:
            remedy = "remove entries that match nothing any more"
            raise invalid_input("value", "is one entry too many", remedy)
        _refuse_doubles(entry, in_force)
        return [entry]

    services.list_entries.add([entry], act=acts_on_entries("add", services, by=by), choose=choose)
    return entry


def preview_entry(new: NewEntry, services: Services) -> Preview:
    """Return an entry's effect on the newest comments. Raises `InvalidInputError`."""
    return _preview(_read(new, services, by=""), services)


def remove_entry(entry_id: str, services: Services, *, by: str) -> ListEntry:
    """End an entry, unless it has ended, and return it. Raises `NotFoundError`."""
    act = acts_on_entries("remove", services, by=by)
    services.list_entries.remove(entry_id, by=by, at=services.clock(), act=act)
    return services.list_entries.get(entry_id)


def restore_entry(entry_id: str, services: Services, *, by: str) -> ListEntry:
    """Undo a removal. Raises `NotFoundError`, `InvalidInputError` if another matches the same."""
    check = partial(_refuse_doubles, services.list_entries.get(entry_id))
    act = acts_on_entries("restore", services, by=by)
    services.list_entries.restore(entry_id, at=services.clock(), act=act, check=check)
    return services.list_entries.get(entry_id)


def find_doubles(entry: ListEntry, in_force: Sequence[ListEntry]) -> list[ListEntry]:
    """Return the entries that match the same on the same site, with either effect."""
    keys = set(entry.keys)
    return [
        other
        for other in in_force
        if (other.kind, other.site_id) == (entry.kind, entry.site_id)
        and other.id != entry.id
        and keys.intersection(other.keys)
    ]


def _read(new: NewEntry, services: Services, *, by: str) -> ListEntry:
    """Return the entry of the input, which begins now. Raises one `InvalidInputError`."""
    problems: list[Problem] = []
    recognised = recognise(new.kind, new.value, services.sender_secrets)
    reason = " ".join(new.reason.split())
    if isinstance(recognised, Problem):
        problems.append(recognised)
    if not reason:
        problems.append(Problem("reason", "is missing", "say why, in a few words"))
    elif len(reason) > MAX_REASON_CHARS:
        problems.append(Problem("reason", "is too long", "say it in at most 200 characters"))
    if new.site_id is not None:
        services.sites.get(new.site_id)
    if isinstance(recognised, Problem) or problems:
        raise InvalidInputError(problems)
    now = services.clock()
    return ListEntry(
        id=services.new_id("ent"),
        site_id=new.site_id,
        effect=new.effect,
        kind=new.kind,
        label=recognised.label,
        keys=recognised.keys,
        reason=reason,
        added_by=by,
        added_at=now,
        expires_at=now + new.expires_in if new.expires_in else None,
    )


def _refuse_doubles(entry: ListEntry, in_force: Sequence[ListEntry]) -> None:
    if doubles := find_doubles(entry, in_force):
        on_this = any(double.effect is entry.effect for double in doubles)
        problem = "is on this list already" if on_this else "is on the other list"
        raise invalid_input("value", problem, "remove the other entry first")


def _preview(entry: ListEntry, services: Services) -> Preview:
    criteria = CaseFilter(site_ids=(entry.site_id,) if entry.site_id else None)
    cases = services.cases.page(
        criteria, order=Order.NEWEST, cursor=None, limit=PREVIEWED_COMMENTS
    ).items
    index, now = ListEntryIndex([entry]), services.clock()
    matched = [
        case
        for case in cases
        if case.withdrawn_at is None and index.find(case.comment, at=now) is not None
    ]
    rulings = [case.decision.ruling for case in matched if case.decision]
    return Preview(
        n_seen=len(cases),
        n_matched=len(matched),
        n_approved=rulings.count(Ruling.APPROVE),
        n_rejected=rulings.count(Ruling.REJECT),
        n_against=sum(_contradicts(case, entry.effect) for case in matched),
        n_contrary=sum(_contradicts(case, entry.effect) for case in cases),
    )


def _contradicts(case: Case, effect: Effect) -> bool:
    """Return True if the entry blocks ham or allows spam. Verdicts by entries don't count."""
    if case.decision is not None:
        contrary = Ruling.REJECT if effect is Effect.ALLOW else Ruling.APPROVE
        return case.decision.ruling is contrary
    if case.verdict is None or case.verdict.followed is not None:
        return False
    return case.verdict.outcome is (Outcome.SPAM if effect is Effect.ALLOW else Outcome.HAM)


def acts_on_entries(act: str, services: Services, *, by: str) -> Callable[[ListEntry], AuditEntry]:
    """Return a function that takes an entry and returns the log's entry; see `make_act`."""

    def make(entry: ListEntry) -> AuditEntry:
        # Without the label: a phrase may be a comment's own words.
        detail = f"{entry.kind} at {entry.site_id or 'all sites'}"
        name = f"add {entry.effect} entry" if act == "add" else f"{act} entry"
        return make_act(services, actor=by, act=name, subject=entry.id, detail=detail)

    return make
