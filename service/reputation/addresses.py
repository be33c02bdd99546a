"""Tells the addresses that a public list cannot speak about."""

from __future__ import annotations

import ipaddress

from service.domain.sender import IpAddress

# Loopback, private networks (RFC 1918, RFC 4193), shared space of carriers (RFC 6598), link-local:
# such an address is that of a proxy of the site's own, and lists of reserved space hold them all.
_LOCAL4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "224.0.0.0/3",
    )
)
_LOCAL6 = tuple(
    ipaddress.IPv6Network(network) for network in ("::/64", "fc00::/7", "fe80::/10", "ff00::/8")
)


_SPANS = {
    version: tuple((int(network[0]), int(network[-1])) for network in networks)
    for version, networks in ((4, _LOCAL4), (6, _LOCAL6))
}


def is_local(address: IpAddress) -> bool:
    """Return True if an address means nothing outside one network."""
    number = int(address)
    return any(start <= number <= end for start, end in _SPANS[address.version])
