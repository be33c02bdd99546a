"""Turns an address and an e-mail into keyed hashes, so that neither is ever kept."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress

from service.domain.comment import Sender

# The customary sizes of one household's or office's network.
_NETWORK_BITS = {4: 24, 6: 64}


def make_sender(*, address: str | None, email: str | None, secret: bytes) -> Sender:
    """Return the sender's keyed hashes (HMAC-SHA-256, 128 bits); absent parts stay None.

    An IPv4 address mapped into IPv6 counts as the IPv4 address. E-mail addresses are compared
    without regard to case. Raises `ValueError` for an address that is not an IP address.
    """
    parsed = _parse(address) if address else None
    network = (
        ipaddress.ip_network((parsed, _NETWORK_BITS[parsed.version]), strict=False)
        if parsed
        else None
    )
    folded = email.strip().lower() if email else None
    return Sender(
        address_key=_key("address", str(parsed), secret) if parsed else None,
        network_key=_key("network", str(network), secret) if network else None,
        email_key=_key("email", folded, secret) if folded else None,
        email_domain=folded.rpartition("@")[2] or None if folded else None,
    )


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    parsed = ipaddress.ip_address(address.strip())
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def _key(kind: str, value: str, secret: bytes) -> str:
    return hmac.new(secret, f"{kind}:{value}".encode(), hashlib.sha256).hexdigest()[:32]
