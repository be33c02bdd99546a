"""Reads the host out of an address, then the domain that somebody registered out of the host."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from publicsuffixlist import PublicSuffixList

# 253 is the longest name that DNS can carry.
_MAX_HOST_CHARS = 253
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]{0,15}:)?//", re.IGNORECASE)
_HOST_END = re.compile(r"[/?#\\\s]")
_IP4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z")


@cache
def _suffixes() -> PublicSuffixList:
    # Loading takes 70 ms, so it waits for the first address; the list comes inside the package.
    return PublicSuffixList(accept_unknown=False)


def host_of(address: str) -> str:
    """Return the host of a URL or of a bare address in lower case, "" where there is none."""
    rest = _SCHEME.sub("", address[:2_048].strip(), count=1)
    authority = _HOST_END.split(rest, maxsplit=1)[0].rpartition("@")[2]
    host = authority.partition(":")[0].lower().strip(".")
    return host if len(host) <= _MAX_HOST_CHARS and "." in host else ""


@lru_cache(maxsize=4_096)
def registered_domain(host: str) -> str:
    """Return what somebody registered ("shop.example.co.uk" gives "example.co.uk").

    An IPv4 address is its own domain; a host under no known public suffix gives "".
    """
    if _IP4.match(host):
        return host
    return _suffixes().privatesuffix(host) or ""


def is_public_suffix(host: str) -> bool:
    """Return True if strangers have sites of their own under a host, as under "blogspot.com"."""
    return _suffixes().publicsuffix(host) == host


def suffix_of(host: str) -> str:
    """Return the last label of a host, without its dot."""
    return host.rpartition(".")[2]
