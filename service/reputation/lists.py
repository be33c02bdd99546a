"""Reads reputation lists in the formats in which they are published, bounded and never trusting."""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import BinaryIO

from service.domain.comment import ListBasis, ListKind
from service.domain.errors import invalid_input
from service.domain.sender import IpAddress, parse_address
from service.domain.text import normal_domain
from service.reputation.ranges import CompiledEntries, EntryCollector
from service.signals.listings import HALF_LIFE_DAYS

# Loopback, private networks (RFC 1918, RFC 4193), shared space of carriers (RFC 6598), link-local:
# such an address is that of a proxy of the site's own, and lists of reserved space hold them all.
_LOCAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "224.0.0.0/3",
        "::/64",
        "fc00::/7",
        "fe80::/10",
        "ff00::/8",
    )
)


def is_local(address: IpAddress) -> bool:
    """Return True if an address means nothing outside one network."""
    return any(address in network for network in _LOCAL)


LIST_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
# After so many half-lives a list is worth a sixteenth, and should go.
_EXPIRES_AFTER_HALF_LIVES = 4
_DAY = timedelta(days=1)


class ListState(StrEnum):
    """Whether a list still tells all it can."""

    FRESH = "fresh"
    STALE = "stale"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutList:
    """One list. `listed_at` is when it was made, and what its age is counted from."""

    name: str
    kind: ListKind
    source: str
    listed_at: datetime
    expires_at: datetime
    entries: int
    wrong_lines: int
    basis: ListBasis = ListBasis.REPORTED

    def age_days(self, at: datetime) -> float:
        """Return the list's age at a moment; 0 for one dated in the future."""
        return max(0.0, (at - self.listed_at) / _DAY)

    def state(self, at: datetime) -> ListState:
        """Return the list's state at a moment: stale from its first half-life on."""
        if at >= self.expires_at:
            return ListState.EXPIRED
        is_stale = self.age_days(at) >= HALF_LIFE_DAYS[self.kind]
        return ListState.STALE if is_stale else ListState.FRESH


def default_expiry_days(kind: ListKind) -> int:
    """Return after how many days a list of this kind falls silent unless it says otherwise."""
    return round(_EXPIRES_AFTER_HALF_LIVES * HALF_LIFE_DAYS[kind])


# The longest true entry is a domain of 253 characters; the rest is room for remarks.
MAX_LINE_BYTES = 4_096
# 160 MB of arrays at most; the largest public lists have some millions of entries.
MAX_ENTRIES = 10_000_000
_MAX_LINES = 2 * MAX_ENTRIES
MAX_NAMED_LINES = 5
# An entry wider than these is a slip or a list of reserved space; it would speak against everybody.
_MAX_SIZE = {4: 1 << 24, 6: 1 << (128 - 16)}
_COMMENT = ("#", ";", "//")
_HEADER_DATE = re.compile(
    r"#\s{0,8}(?:This File Date|Source File Date|Date|Generated|(?:Last[ -]?)?Updated"
    r"|Last Modified)\s{0,20}:\s{0,8}(\S.{5,60})",
    re.IGNORECASE,
)
_NO_NETWORK = "it is no IP address, network or range"
# What an IPv4 address mapped into IPv6 begins with (RFC 4291, 2.5.5.2).
_MAPPED = 0xFFFF
_RANGE = re.compile(r"([0-9A-Fa-f:.]{2,45})\s{0,8}-\s{0,8}([0-9A-Fa-f:.]{2,45})")
_ENTRY_END = re.compile(r"[\s,;#]")
# A hosts file sends what it blocks to one of these.
_NOWHERE = frozenset(("0.0.0.0", "127.0.0.1", "::", "::1"))  # noqa: S104  # nothing listens on it


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongLine:
    """One line that is no entry: its number, from 1, and what is wrong with it in fixed words."""

    number: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedList:
    """What a file held: how many entries, the merged entries, and what could not be read.

    `dated` is when the list was made, if its header says so; `first_wrong` are the first wrong
    lines of `wrong`.
    """

    entries: int
    compiled: CompiledEntries
    wrong: int
    first_wrong: tuple[WrongLine, ...]
    dated: datetime | None


class _WrongEntryError(Exception):
    """A line is no entry; the message says why, without a character of it."""


_Add = Callable[[str, EntryCollector], None]


def parse_list(file: BinaryIO, kind: ListKind) -> ParsedList:
    """Read a list of networks, domains or mail domains, one entry a line, whatever its format.

    Networks are single addresses, CIDR, `a - b`, or the lines of an rbldnsd zone; domains may
    have a leading dot, `*.`, `@` or stand as `||domain^`, or behind 0.0.0.0 as in a hosts file.
    Wrong lines are counted and left out. Raises `InvalidInputError` for a file of which fewer
    lines are right than wrong, which is most likely of another format, and for one that has no
    entry or more than `MAX_ENTRIES`; the message quotes nothing of it.
    """
    entries = EntryCollector()
    add = _add_network if kind is ListKind.NETWORKS else _add_domain
    wrong, dated = 0, None
    first_wrong: list[WrongLine] = []
    for number, line in enumerate(_lines(file), start=1):
        if dated is None and line is not None and line.startswith("#"):
            dated = _date_in(line)
        problem = _take(line, add, entries)
        if problem:
            wrong += 1
            if len(first_wrong) < MAX_NAMED_LINES:
                first_wrong.append(WrongLine(number=number, problem=problem))
        if len(entries) > MAX_ENTRIES or number > _MAX_LINES:
            problem = f"has more than {MAX_ENTRIES:,} entries"
            raise invalid_input("file", problem, "import a part of it")
    _refuse_if_mostly_wrong(len(entries), wrong, first_wrong, kind)
    return ParsedList(
        entries=len(entries),
        compiled=entries.compiled(),
        wrong=wrong,
        first_wrong=tuple(first_wrong),
        dated=dated,
    )


def _lines(file: BinaryIO) -> Iterator[str | None]:
    """Yield the lines without their end; None for one that is too long, which is not kept."""
    while raw := file.readline(MAX_LINE_BYTES + 1):
        if len(raw) > MAX_LINE_BYTES:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(MAX_LINE_BYTES)
            yield None
        else:
            yield raw.decode("utf-8", "replace").strip("\ufeff\r\n\t \0")


def _take(line: str | None, add: _Add, entries: EntryCollector) -> str | None:
    """Take in a line; return its problem, or None for an entry or a remark."""
    if line is None:
        return f"it has more than {MAX_LINE_BYTES} bytes"
    if not line or line.startswith(_COMMENT):
        return None
    try:
        add(line, entries)
    except _WrongEntryError as error:
        return str(error)
    return None


def _add_network(line: str, entries: EntryCollector) -> None:
    if line[0] == "$" or (line[0] == ":" and line[1:2] != ":"):
        return  # The default answer and the directives of an rbldnsd zone (rbldnsd(8), ip4set).
    if line[0] == "!":
        raise _WrongEntryError("it takes addresses out of the list, which is not supported")
    version: int
    if span := _RANGE.match(line) if "-" in line else None:
        first, last = _address(span[1]), _address(span[2])
        if first.version != last.version or int(first) > int(last):
            raise _WrongEntryError("it is a range whose end does not lie behind its beginning")
        version, start, size = first.version, int(first), int(last) - int(first) + 1
    else:
        version, start, size = _read_network(_ENTRY_END.split(line, maxsplit=1)[0].strip('"'))
    if size > _MAX_SIZE[version]:
        raise _WrongEntryError("it is a network wider than anybody's (IPv4 /8, IPv6 /16)")
    entries.add(version, start, start + size - 1)


def _read_network(token: str) -> tuple[int, int, int]:
    """Return the IP version, the first address and the size of an address or a network."""
    plain, slash, bits = token.partition("/")
    is_4 = ":" not in plain
    length = 32 if is_4 else 128
    try:
        # Several times as fast as `ipaddress`.
        packed = socket.inet_pton(socket.AF_INET if is_4 else socket.AF_INET6, plain)
        prefix = int(bits) if slash and bits.isdecimal() else length
    except (OSError, ValueError):
        return _read_other(token)
    if prefix > length or (slash and not (bits.isascii() and bits.isdecimal())):
        return _read_other(token)
    start, version = int.from_bytes(packed, "big"), 4 if is_4 else 6
    if version == 6 and start >> 32 == _MAPPED and prefix >= 96:
        start, version = start & 0xFFFFFFFF, 4
    size = 1 << (length - prefix)
    return version, start & -size, size


def _read_other(token: str) -> tuple[int, int, int]:
    """Read an address with a port or zone, or a network with a mask."""
    if "/" not in token:
        address = _address(token)
        return address.version, int(address), 1
    try:
        network = ipaddress.ip_network(token, strict=False)
    except ValueError:
        raise _WrongEntryError(_NO_NETWORK) from None
    return network.version, int(network[0]), network.num_addresses


def _address(given: str) -> IpAddress:
    try:
        return parse_address(given)
    except ValueError:
        raise _WrongEntryError(_NO_NETWORK) from None


def _add_domain(line: str, entries: EntryCollector) -> None:
    if line[0] in ":$!":
        return  # A zone's default and directives; in a filter list a remark.
    first, *more = _ENTRY_END.split(line, maxsplit=2)
    token = more[0] if first in _NOWHERE and more else first
    if token.startswith("||") and token.endswith("^"):
        token = token[2:-1]
    domain = normal_domain(token.removeprefix("*").removeprefix("@"))
    if domain is None:
        raise _WrongEntryError("it is no domain name")
    entries.add_domain(domain)


def _date_in(line: str) -> datetime | None:
    found = _HEADER_DATE.match(line)
    if not found:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(found[1].strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None


def _refuse_if_mostly_wrong(
    right: int, wrong: int, first_wrong: list[WrongLine], kind: ListKind
) -> None:
    what = kind.value.replace("_", " ")
    if wrong and wrong >= right:
        lines = "; ".join(f"line {one.number}: {one.problem}" for one in first_wrong)
        problem = f"has {wrong:,} wrong lines and {right:,} right ones ({lines})"
        remedy = f"give a file with {what}, one a line, or another --kind"
        raise invalid_input("file", problem, remedy)
    if not right:
        raise invalid_input("file", "has no entry", f"give a file with {what}, one a line")
