"""Reads what a moderator wants to list: a mail address, a network, a domain, a phrase."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import idna

from service.domain.errors import Problem
from service.domain.list_entry import MAX_PHRASE_CHARS, EntryKind
from service.domain.sender import SenderSecrets, make_sender, parse_address
from service.reputation.lists import is_local, normal_domain
from service.reputation.names import FREE_MAIL_DOMAINS
from service.signals.hosts import host_of, registered_domain
from service.signals.text import is_unspaced, readings_of

MAX_VALUE_CHARS = 320
# In Chinese, Japanese and Korean most words have two characters.
_MIN_PHRASE_CHARS = 3
_MIN_PHRASE_SYLLABLES = 2
# What a comment keeps of its sender's network: the IPv4 /24, the IPv6 /64 and /48. A wider network
# is listed as so many of these, at most 256.
_WIDTHS4 = ((16, 24, 24),)
_WIDTHS6 = ((40, 48, 48), (56, 64, 64))
_LABEL_CHARS = 8

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """What an entry is shown as, and what comments are compared with."""

    label: str
    keys: tuple[str, ...]


def recognise(kind: EntryKind, value: str, secrets: SenderSecrets) -> Recognised | Problem:
    """Return what to keep of a value, or what is wrong with it in words that never quote it.

    An e-mail, an address or a network leaves keyed hashes alone.
    """
    given = value.strip()
    if not given:
        return _problem("is missing", "say what to list")
    if len(given) > MAX_VALUE_CHARS:
        return _problem("is too long", "give at most 320 characters")
    return _READERS[kind](given, secrets)


def _problem(problem: str, remedy: str) -> Problem:
    return Problem("value", problem, remedy)


def _email(given: str, secrets: SenderSecrets) -> Recognised | Problem:
    name, _, domain = given.rpartition("@")
    if not name or normal_domain(domain) is None or any(c.isspace() for c in given):
        return _problem("is no e-mail address", "give one such as mara@example.org")
    sender = make_sender(
        address=None, email=given, secret=secrets.present, secret_before=secrets.before
    )
    return _keyed(one.email_key for one in sender.generations)


def _address(given: str, secrets: SenderSecrets) -> Recognised | Problem:
    try:
        parsed = parse_address(given)
    except ValueError:
        return _problem("is no IP address", "give one such as 192.0.2.7 or 2001:db8::7")
    if is_local(parsed):
        return _problem(
            "belongs to a private network", "give the public address that a comment came from"
        )
    sender = make_sender(
        address=given, email=None, secret=secrets.present, secret_before=secrets.before
    )
    return _keyed(one.address_key for one in sender.generations)


def _network(given: str, secrets: SenderSecrets) -> Recognised | Problem:
    try:
        network = ipaddress.ip_network(given, strict=False)
    except ValueError:
        return _problem("is no network", "give one such as 192.0.2.0/24 or 2001:db8::/48")
    widths = _WIDTHS4 if network.version == 4 else _WIDTHS6
    if network.prefixlen < widths[0][0]:
        return _problem("is too wide a network", "give at most an IPv4 /16 or an IPv6 /40")
    if is_local(network.network_address):
        return _problem(
            "belongs to a private network", "give the public address that a comment came from"
        )
    kept = [bits for low, high, bits in widths if low <= network.prefixlen <= high]
    if not kept:
        return _problem(
            "is of a width that no comment can be compared with",
            "give an IPv4 /16 to /24, an IPv6 /40 to /48 or /56 to /64, or a single address",
        )
    return _keyed(_network_keys(network, kept[0], secrets))


def _network_keys(network: Network, bits: int, secrets: SenderSecrets) -> list[str | None]:
    keys: list[str | None] = []
    for part in network.subnets(new_prefix=bits):
        sender = make_sender(
            address=str(part.network_address),
            email=None,
            secret=secrets.present,
            secret_before=secrets.before,
        )
        name = "wide_network_key" if bits == _WIDTHS6[0][2] else "network_key"
        keys.append(getattr(sender, name))
        if sender.before_rotation:
            keys.append(getattr(sender.before_rotation, name))
    return keys


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
    return Recognised(label=name, keys=tuple(dict.fromkeys((name, _as_read(name)))))


def _as_read(name: str) -> str:
    """Return a domain in its own script, as links often write it."""
    try:
        return idna.decode(name)
    except (idna.IDNAError, UnicodeError):
        return name


def _phrase(given: str, _secrets: SenderSecrets) -> Recognised | Problem:
    label = " ".join(given.split())
    if len(label) > MAX_PHRASE_CHARS:
        return _problem("is too long a phrase", "give at most 200 characters")
    rows = [words for words in readings_of(label) if words]
    least = _MIN_PHRASE_SYLLABLES if rows and is_unspaced(rows[0]) else _MIN_PHRASE_CHARS
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
    """Return the beginning of a keyed hash, by which people tell two entries apart."""
    return key[:_LABEL_CHARS]


_READERS: dict[EntryKind, Callable[[str, SenderSecrets], Recognised | Problem]] = {
    EntryKind.EMAIL: _email,
    EntryKind.ADDRESS: _address,
    EntryKind.NETWORK: _network,
    EntryKind.MAIL_DOMAIN: _mail_domain,
    EntryKind.DOMAIN: _domain,
    EntryKind.PHRASE: _phrase,
}
