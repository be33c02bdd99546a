"""The sender of a comment: keyed hashes in place of addresses, and their histories."""

import hashlib
import hmac
import ipaddress
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from service.domain.comment import Sender, SiteId
from service.domain.text import normal_domain

# Two letters are initials that many people share; names in Han characters are complete.
_MIN_LETTERS = 3
_MIN_IDEOGRAPHS = 2
_FIRST_IDEOGRAPH = "\u2e80"
# Longer names are cut when the comment is stored; this limit bounds the work.
_MAX_CHARS = 300
# Invisible letters and marks: variation selectors, Hangul fillers, ...
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
# What forms and people write instead of a name, normalised.
_PLACEHOLDERS = frozenset({
    "admin", "administrator", "anon", "anonim", "anonimo", "anonym", "anonyme", "anonymous",
    "anonymous coward", "anonymous user", "anonymus", "anónimo", "anônimo", "author",
    "blog", "gast", "guest", "invitado", "invité", "moderator", "name", "no name", "nobody",
    "noname", "none", "null", "reader", "someone", "test", "tester", "undefined", "unknown",
    "user", "visitor", "webmaster", "your name", "аноним", "гость", "ゲスト", "匿名", "匿名用户",
    "名無し", "名無しさん",
})  # fmt: skip


def normal_name(name: str | None) -> str | None:
    """Return the name in NFKC, case folded, with spaces for all but letters, marks and digits.

    Hidden characters are removed. Returns None for names that do not distinguish anybody.
    """
    if not name:
        return None
    plain = unicodedata.normalize("NFKC", name[:_MAX_CHARS])
    # Folding may undo the composed form, so it is composed again (Unicode Standard, D145).
    plain = unicodedata.normalize("NFKC", plain.casefold())
    kept = " ".join("".join(_kept(character) for character in plain).split())
    letters = kept.replace(" ", "")
    needed = _MIN_IDEOGRAPHS if letters[:1] >= _FIRST_IDEOGRAPH else _MIN_LETTERS
    return None if len(letters) < needed or kept in _PLACEHOLDERS else kept


def _kept(character: str) -> str:
    """Return a letter, mark or digit unchanged, nothing for a hidden character, else a space."""
    category = unicodedata.category(character)
    if category[0] in "LMN":
        return "" if _HIDDEN.match(character) else character
    return "" if category in ("Cf", "Cs", "Co", "Cn") else " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The history of one key (an address, a domain).

    `approved` and `rejected` count decisions, which lose weight with age. `seen_hour` and
    `seen_day` count other comments of about the last hour and day, at all sites, of addresses,
    e-mails, linked domains and texts; they teach nothing.
    """

    approved: float = 0.0
    rejected: float = 0.0
    seen_hour: int = 0
    seen_day: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """The histories of one key: at the comment's own site, and at all sites including it."""

    here: Record = field(default_factory=Record)
    everywhere: Record = field(default_factory=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """One account's earlier comments at one site, with any outcome, and the days since the last.

    `remarks` offered nothing, `offers` had a commercial link or a product, `repeats` pitched the
    same as this one.
    """

    quiet_days: int = 0
    remarks: int = 0
    offers: int = 0
    repeats: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All histories of a comment's sender, links and text.

    `network` is the IPv4 /24 or IPv6 /64, `wide_network` the IPv6 /48, `system` the autonomous
    system. `domains` is that of the linked domain with the worst history, `content` that of near-
    copies of the text, both without the comment's versions and its sender's copies. `account` may
    be that of a name with an e-mail address. `email_offers` and `account_offers` count only
    decisions on comments with a commercial link or a product. `conduct` is None for an unknown
    account.
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


IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# The usual sizes of a household's or office's network, and of a host's customer's.
_NETWORK_BITS = {4: 24, 6: 64}
_WIDE_BITS = 48
# IPv4 with a port, and IPv6 in brackets with or without one (RFC 3986, section 3.2.2).
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{0,5}|\[([0-9A-Fa-f:.]+)(?:%[^\]]*)?\](?::[0-9]{0,5})?")
# Domains of a provider where a name is the same mailbox, and the marks that it does not tell apart.
_ONE_PROVIDER = {
    "googlemail.com": "gmail.com",
    **dict.fromkeys(("me.com", "mac.com"), "icloud.com"),
    **dict.fromkeys(("protonmail.com", "protonmail.ch", "pm.me"), "proton.me"),
    **{f"yandex.{suffix}": "yandex.ru" for suffix in ("com", "by", "kz", "ua")},
    "ya.ru": "yandex.ru",
}
_MARKS_OF_NAMES: Mapping[str, Mapping[int, int | None]] = {
    "gmail.com": str.maketrans("", "", "."),
    "proton.me": str.maketrans("", "", ".-_"),
    "yandex.ru": str.maketrans(".", "-"),
}
# An IPv6 address that ends with an IPv4 address has 45 characters; a zone may follow.
_MOST_ADDRESS_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SenderSecrets:
    """The secrets of senders' hashes: the present one and, during a rotation, the previous one."""

    present: bytes
    before: bytes | None = None


def make_sender(
    *,
    secrets: SenderSecrets,
    address: str | None = None,
    email: str | None = None,
    name: str | None = None,
    site_id: SiteId | None = None,
    account_id: str | None = None,
) -> Sender:
    """Return the sender's keyed hashes (HMAC-SHA-256, 128 bits); missing values stay None.

    With `site_id` the account is included; without `account_id` the name and e-mail replace it.
    `before_rotation` has the keys under the previous secret, then those of the e-mail address as
    typed, for older records. Raises `ValueError` for an address that is not an IP address.
    """
    parsed = parse_address(address) if address else None
    folded = email.strip().lower() if email else None
    normal = normal_email(folded) if folded else None
    values = {"email": normal, "name": normal_name(name)}
    if parsed is not None:
        values["address"] = str(parsed)
        values["network"] = _network(parsed, _NETWORK_BITS[parsed.version])
        values["wide network"] = _network(parsed, _WIDE_BITS) if parsed.version == 6 else None
    values["account"] = _account(site_id, account_id, values)
    known = [one for one in dict.fromkeys((secrets.present, secrets.before)) if one is not None]
    generations = [_keyed(values, each) for each in known]
    if folded != normal:
        typed = {"email": folded, "name": values["name"]}
        account = None if account_id else _account(site_id, None, typed)
        generations += [_keyed({"email": folded, "account": account}, each) for each in known]
    sender: Sender | None = None
    for one in reversed([one for one in generations if one != Sender()]):
        sender = replace(one, before_rotation=sender)
    email_domain = _email_parts(email)[1] or None if email else None
    return replace(sender or Sender(), email_domain=email_domain)


def normal_email(email: str) -> str:
    """Return the canonical form of all addresses of one mailbox, the domain in ASCII.

    A tag after a plus sign is removed, and blanks, hidden characters, `mailto:` and a name around
    `<…>`. The domains of Gmail, Apple, Proton and Yandex become one for each provider. Dots are
    removed at Gmail, dots, hyphens and underscores at Proton; at Yandex a dot becomes a hyphen.
    """
    name, domain = _email_parts(email)
    domain = _ONE_PROVIDER.get(domain, domain)
    if name.startswith('"'):
        return f"{name}@{domain}"
    normal = name.partition("+")[0] or name
    return f"{normal.translate(_MARKS_OF_NAMES.get(domain, {})) or normal}@{domain}"


def _email_parts(email: str) -> tuple[str, str]:
    plain = unicodedata.normalize("NFKC", email).lower()
    plain = "".join(one for one in plain if unicodedata.category(one)[0] not in "CZ")
    name, _, domain = bare_email(plain).rpartition("@")
    return name, normal_domain(domain) or domain.rstrip(".")


def bare_email(email: str) -> str:
    """Return the address without `mailto:`, a name around `<…>` and what ends it in a list."""
    plain = email.strip().rstrip(",; ")
    if plain.endswith(">"):
        plain = plain[plain.rfind("<") + 1 : -1]
    return plain.removeprefix("mailto:")


def _account(
    site_id: SiteId | None, account_id: str | None, values: dict[str, str | None]
) -> str | None:
    if site_id is None:
        return None
    parts = [account_id] if account_id else [values["name"], values["email"]]
    # As JSON, so that different parts never give the same string.
    return json.dumps([site_id, *parts]) if all(parts) else None


def parse_address(address: str) -> IpAddress:
    """Return an IP address without port and zone, IPv4 if it is mapped. Raises `ValueError`."""
    given = address.strip()
    with_port = _WITH_PORT.fullmatch(given)
    bare = (with_port[1] or with_port[2]) if with_port else given.partition("%")[0]
    parsed = ipaddress.ip_address(bare)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def one_client(address: str) -> str:
    """Return the IPv4 address, or the /64 of an IPv6 one. Other text is only cut."""
    return _one_client(address.strip()[:_MOST_ADDRESS_CHARS])


@lru_cache(maxsize=1_024)
def _one_client(address: str) -> str:
    try:
        parsed = parse_address(address)
    except ValueError:
        return address
    return str(parsed) if parsed.version == 4 else _network(parsed, _NETWORK_BITS[6])


def _network(parsed: IpAddress, bits: int) -> str:
    return str(ipaddress.ip_network((parsed, bits), strict=False))


def _keyed(values: dict[str, str | None], secret: bytes) -> Sender:
    def key(kind: str) -> str | None:
        # JSON may contain a lone surrogate, which UTF-8 cannot encode.
        raw = f"{kind}:{values.get(kind)}".encode("utf-8", "surrogatepass")
        return hmac.new(secret, raw, hashlib.sha256).hexdigest()[:32] if values.get(kind) else None

    return Sender(
        address_key=key("address"),
        network_key=key("network"),
        wide_network_key=key("wide network"),
        email_key=key("email"),
        name_key=key("name"),
        account_key=key("account"),
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Person:
    """The keys of a person, and the typed name, which finds data stored without its key."""

    sender: Sender
    author_name: str | None = None
