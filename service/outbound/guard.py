"""Decides which addresses may be called; callbacks may only reach the public network."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import idna

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX_URL_CHARS = 2_048
_MAX_HOST_CHARS = 253
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Real sites have fewer addresses, and checking them must stay cheap.
MAX_ADDRESSES = 32

# The characters allowed in a URL. Parsers disagree about the others: white space, control
# characters, backslashes, quotes, and other scripts outside the host.
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]{1,300})"
    r"(?P<path>/[A-Za-z0-9._~!$&'()*+,;=:@%/\[\]|-]*)?"
    r"(?P<query>\?[A-Za-z0-9._~!$&'()*+,;=:@%/?\[\]|-]*)?",
    re.IGNORECASE,
)
_NAME_AND_PORT = re.compile(r"(?P<host>[^:\[\]@%\s\\]+)(?::(?P<port>[0-9]{1,5}))?")
_IPV6_AND_PORT = re.compile(r"\[(?P<host>[0-9A-Fa-f:.]{2,45})\](?::(?P<port>[0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# Browsers read a host whose last label is a number as an IPv4 address.
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")

# IANA's registry of special-purpose IPv4 addresses (as of 2026-11), and Azure's address for the
# host's control service, which looks public.
_NOT_PUBLIC_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
# The only globally allocated range of IPv6. Outside are loopback, unspecified, IPv4-mapped,
# -compatible and -translated, unique local, link-local, site-local and multicast.
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Protocol assignments, including Teredo (which contains an IPv4 address).
        "2001:db8::/32",  # Documentation.
        "2002::/16",  # 6to4, which contains an IPv4 address.
        "2620:4f:8000::/48",  # AS112, which serves private names.
        "3ffe::/16",  # The former 6bone.
        "3fff::/20",  # Documentation.
    )
)
# Networks without IPv4 reach it through this prefix, so the embedded IPv4 address is checked.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# An interface that tunnels to the IPv4 address in its lower half (ISATAP).
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


class Refusal(StrEnum):
    """Reasons why an address is not called, as text for a log."""

    NO_URL = "is not an http or https URL without user name, fragment or unusual characters"
    TOO_LONG = f"has more than {_MAX_URL_CHARS} characters"
    NOT_HTTPS = "is not https"
    PORT = "has a port that is not allowed"
    HOST = "has a host that is neither a name nor an address in its usual form"
    NOT_PUBLIC = "leads to an address that is not public"
    NO_ADDRESS = "has a host that has no address"
    TOO_MANY = "has a host of too many addresses"


class RefusedError(Exception):
    """The address must not be called, for a `Refusal`. The message contains no part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRules:
    """Exceptions from public addresses, https and the usual ports.

    `allow_networks` may be called although they are not public; `allow_hosts` are lower-case names
    that may resolve to any address.
    """

    ports: frozenset[int] = frozenset(_DEFAULT_PORTS.values())
    plain_http: bool = False
    allow_networks: tuple[IPNetwork, ...] = ()
    allow_hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A parsed URL, its host in ASCII; `address` is set if the host is an IP address."""

    scheme: str
    host: str
    port: int
    path: str
    address: IPAddress | None = None

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def parse_target(url: str, rules: OutboundRules) -> Target:
    """Parse a URL strictly. Raises `RefusedError` if it must never be called."""
    if len(url) > _MAX_URL_CHARS:
        raise RefusedError(Refusal.TOO_LONG)
    found = _URL.fullmatch(url)
    if found is None:
        raise RefusedError(Refusal.NO_URL)
    scheme = found["scheme"].lower()
    if scheme == "http" and not rules.plain_http:
        raise RefusedError(Refusal.NOT_HTTPS)
    host, given_port, address = _split_authority(found["authority"])
    port = _DEFAULT_PORTS[scheme] if given_port is None else int(given_port)
    if port not in rules.ports:
        raise RefusedError(Refusal.PORT)
    if address is not None:
        check_addresses(host, [str(address)], rules)
    path = (found["path"] or "/") + (found["query"] or "")
    return Target(scheme=scheme, host=host, port=port, path=path, address=address)


def check_addresses(host: str, given: Sequence[str], rules: OutboundRules) -> list[IPAddress]:
    """Return a host's addresses. Raises `RefusedError` if any of them may not be called.

    All must be allowed, because any of them may be connected to.
    """
    if not given:
        raise RefusedError(Refusal.NO_ADDRESS)
    if len(given) > MAX_ADDRESSES:
        raise RefusedError(Refusal.TOO_MANY)
    addresses = []
    for text in given:
        address = _address(text)
        if not is_public(address) and not _is_allowed(host, address, rules):
            raise RefusedError(Refusal.NOT_PUBLIC)
        addresses.append(address)
    return addresses


def is_public(address: IPAddress) -> bool:
    """Return True if an address is in the public network, outside all special ranges."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return is_public(_inner(address))
    if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP:
        return False
    return address in _PUBLIC_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def _is_allowed(host: str, address: IPAddress, rules: OutboundRules) -> bool:
    if host in rules.allow_hosts:
        return True
    if isinstance(address, ipaddress.IPv6Address) and address in _NAT64:
        address = _inner(address)
    return any(address in network for network in rules.allow_networks)


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)


def _split_authority(authority: str) -> tuple[str, str | None, IPAddress | None]:
    """Return the host, the port and, if the host is an IP address, the address."""
    bracketed = _IPV6_AND_PORT.fullmatch(authority)
    if bracketed:
        address = _address(bracketed["host"])
        if not isinstance(address, ipaddress.IPv6Address):
            raise RefusedError(Refusal.HOST)
        return str(address), bracketed["port"], address
    named = _NAME_AND_PORT.fullmatch(authority)
    if named is None:
        raise RefusedError(Refusal.NO_URL)
    host = _ascii_host(named["host"])
    if not _ENDS_IN_NUMBER.fullmatch(host):
        return host, named["port"], None
    return host, named["port"], _address(host)


def _ascii_host(host: str) -> str:
    """Return a host name in lower-case ASCII. Raises `RefusedError` if it is invalid."""
    if len(host) > _MAX_HOST_CHARS:
        raise RefusedError(Refusal.HOST)
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True, std3_rules=True).decode("ascii")
        except UnicodeError:
            raise RefusedError(Refusal.HOST) from None
    host = host.lower()
    if len(host) > _MAX_HOST_CHARS or not all(_LABEL.fullmatch(part) for part in host.split(".")):
        raise RefusedError(Refusal.HOST)
    return host


def _address(text: str) -> IPAddress:
    """Return an address, given as dotted decimal IPv4 or as IPv6 without a zone.

    Raises `RefusedError` for any other text.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise RefusedError(Refusal.HOST) from None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise RefusedError(Refusal.HOST)
    return address
