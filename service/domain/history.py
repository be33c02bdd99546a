"""What is remembered about a comment's sender from earlier decisions."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How moderators ruled on earlier comments that share one key (an address, a domain)."""

    approved: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Earlier decisions on the same address, network, e-mail and linked domains, on all sites.

    An empty history means "never seen"; a history that could not be fetched is None where one is
    expected, and makes the verdict degraded.
    """

    address: Tally = field(default_factory=Tally)
    network: Tally = field(default_factory=Tally)
    email: Tally = field(default_factory=Tally)
    domains: Tally = field(default_factory=Tally)
