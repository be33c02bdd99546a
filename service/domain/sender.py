"""Turns an address, an e-mail and a name into keyed hashes, so that none is ever kept."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
from dataclasses import dataclass, replace
from functools import lru_cache

from service.domain.author_name import normal_name
from service.domain.comment import Sender, SiteId

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# The customary sizes of one household's or office's network, and of one customer's of a host.
_NETWORK_BITS = {4: 24, 6: 64}
_WIDE_BITS = 48
_GMAIL = frozenset({"gmail.com", "googlemail.com"})
# An IPv6 address with an IPv4 one at its end has 45, a zone comes on top.
_MOST_ADDRESS_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SenderSecrets:
    """What keys the hashes of senders: the present secret, and while both count the one before."""

    present: bytes
    before: bytes | None = None


def make_sender(
    *,
    address: str | None,
    email: str | None,
    secret: bytes,
    name: str | None = None,
    secret_before: bytes | None = None,
    site_id: SiteId | None = None,
    account_id: str | None = None,
) -> Sender:
    """Return the sender's keyed hashes (HMAC-SHA-256, 128 bits); absent parts stay None.

    With `site_id` the account is among them; without `account_id` name and e-mail stand for it.

    An IPv4 address mapped into IPv6 counts as the IPv4 address. E-mail addresses are compared as
    `normal_email` has them, names as `normal_name` reduces them. With `secret_before` the keys
    under that secret stand in `before_rotation`; behind them those of the e-mail address as typed,
    under which records were made before addresses had a normal form. Raises `ValueError` for an
    address that is not an IP address.
    """
    parsed = parse_address(address) if address else None
    folded = email.strip().lower() if email else None
    normal = normal_email(folded) if folded else None
    values = {**_address_values(parsed), "email": normal, "name": normal_name(name)}
    values["account"] = _account(site_id, account_id, values)
    secrets = [secret]
    if secret_before is not None and secret_before != secret:
        secrets.append(secret_before)
    generations = [_keyed(values, each) for each in secrets]
    if folded != normal:
        typed = {"email": folded, "name": values["name"]}
        account = None if account_id else _account(site_id, None, typed)
        generations += [_keyed({"email": folded, "account": account}, each) for each in secrets]
    sender = _chained([one for one in generations if one != Sender()])
    return replace(sender, email_domain=folded.rpartition("@")[2] or None if folded else None)


def normal_email(email: str) -> str:
    """Return the one form of the addresses that reach one mailbox.

    What follows a plus sign is a tag of the owner's; at Gmail dots mean nothing either, and
    googlemail.com is the same as gmail.com.
    """
    name, _, domain = email.strip().lower().rpartition("@")
    domain = domain.rstrip(".")
    if name.startswith('"'):
        return f"{name}@{domain}"
    normal = name.partition("+")[0] or name
    if domain in _GMAIL:
        return f"{normal.replace('.', '') or normal}@gmail.com"
    return f"{normal}@{domain}"


def _chained(generations: list[Sender]) -> Sender:
    """Return the first of some senders, each with the next as the one before it."""
    chained: Sender | None = None
    for one in reversed(generations):
        chained = replace(one, before_rotation=chained)
    return chained or Sender()


def _account(
    site_id: SiteId | None, account_id: str | None, values: dict[str, str | None]
) -> str | None:
    if site_id is None:
        return None
    parts = [account_id] if account_id else [values["name"], values["email"]]
    # As JSON, so that no parts of one make those of another.
    return json.dumps([site_id, *parts]) if all(parts) else None


def parse_address(address: str) -> IpAddress:
    """Return an IP address, the IPv4 one where it is mapped into IPv6. Raises `ValueError`."""
    parsed = ipaddress.ip_address(address.strip())
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def one_client(address: str) -> str:
    """Return what a single client holds: an IPv4 address, or the /64 of an IPv6 one.

    What is no address stays as it is, cut to the length of one.
    """
    return _one_client(address.strip()[:_MOST_ADDRESS_CHARS])


@lru_cache(maxsize=1_024)
def _one_client(address: str) -> str:
    try:
        parsed = parse_address(address)
    except ValueError:
        return address
    return str(parsed) if parsed.version == 4 else _network(parsed, _NETWORK_BITS[6])


def _address_values(parsed: IpAddress | None) -> dict[str, str | None]:
    if parsed is None:
        return {}
    wide = _network(parsed, _WIDE_BITS) if parsed.version == 6 else None
    network = _network(parsed, _NETWORK_BITS[parsed.version])
    return {"address": str(parsed), "network": network, "wide network": wide}


def _network(parsed: IpAddress, bits: int) -> str:
    return str(ipaddress.ip_network((parsed, bits), strict=False))


def _keyed(values: dict[str, str | None], secret: bytes) -> Sender:
    """Return the keys of what is there under one secret."""

    def key(kind: str) -> str | None:
        value = values.get(kind)
        return _key(kind, value, secret) if value else None

    return Sender(
        address_key=key("address"),
        network_key=key("network"),
        wide_network_key=key("wide network"),
        email_key=key("email"),
        name_key=key("name"),
        account_key=key("account"),
    )


def _key(kind: str, value: str, secret: bytes) -> str:
    # A lone surrogate, which JSON may carry, has no bytes of its own in UTF-8.
    raw = f"{kind}:{value}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, raw, hashlib.sha256).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Person:
    """The keys of a person's address, e-mail and name, and the name as it was typed, if any.

    The name itself finds what was kept without a key of it.
    """

    sender: Sender
    author_name: str | None = None
