"""What is remembered about a comment's sender, its targets and its words from earlier ones."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is remembered under one key (an address, a domain).

    `approved` and `rejected` count moderators' decisions, each worth less the longer ago it was
    made, hence fractions. `seen_hour` and `seen_day` count other comments seen within about the
    last hour and day, whatever became of them; seeing is no decision and teaches nothing. They are
    counted for addresses, e-mails, linked domains and texts, at all sites together, else 0.
    """

    approved: float = 0.0
    rejected: float = 0.0
    seen_hour: int = 0
    seen_day: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """The records of one key: at the comment's own site, and at all sites, its own included."""

    here: Record = field(default_factory=Record)
    everywhere: Record = field(default_factory=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """What one account did at one site before this comment, whatever became of it.

    `quiet_days` passed since its last comment here. `remarks` are comments that offered nothing,
    `offers` those with a commercial link or a product, `repeats` those that pitched what this one
    names.
    """

    quiet_days: int = 0
    remarks: int = 0
    offers: int = 0
    repeats: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Everything remembered that a comment touches.

    `network` is the IPv4 /24 or IPv6 /64, `wide_network` the IPv6 /48, `system` the autonomous
    system. `domains` is the track record of the linked registered domain that speaks most against
    the comment: a sum would let a well-known domain launder the bad one beside it. `content` is
    that of near-copies of the text. A comment's versions, and its sender's copies of it on any
    site, are seen in neither. `account` is an account's, or where there is none that of a name with
    an e-mail address. `email_offers` and `account_offers` count only decisions on comments with a
    commercial link or a product. `conduct` is what the account did here, None for one that was
    never seen. An empty history means "never seen"; a history that could not be
    fetched is None where one is expected, and makes the verdict degraded.
    """

    address: TrackRecord = field(default_factory=TrackRecord)
    network: TrackRecord = field(default_factory=TrackRecord)
    wide_network: TrackRecord = field(default_factory=TrackRecord)
    system: TrackRecord = field(default_factory=TrackRecord)
    email: TrackRecord = field(default_factory=TrackRecord)
    email_domain: TrackRecord = field(default_factory=TrackRecord)
    name: TrackRecord = field(default_factory=TrackRecord)
    domains: TrackRecord = field(default_factory=TrackRecord)
    content: TrackRecord = field(default_factory=TrackRecord)
    account: TrackRecord = field(default_factory=TrackRecord)
    email_offers: TrackRecord = field(default_factory=TrackRecord)
    account_offers: TrackRecord = field(default_factory=TrackRecord)
    conduct: Conduct | None = None
