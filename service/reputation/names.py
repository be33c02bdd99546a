"""Names the records that a comment belongs to, the same wherever histories are kept."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from service.domain.comment import Comment, Edit, Sender, SiteId
from service.domain.delivery import platform_of, unversioned
from service.reputation.fingerprints import fingerprints_of
from service.signals.judged_text import judged_text
from service.signals.offers import offers
from service.signals.view import linked_domains
from service.signals.wordlists import word_list

FREE_MAIL_DOMAINS = word_list("free_mail_domains")

# A comment with hundreds of links must not make one look-up expensive; the first ones are enough.
MAX_DOMAINS = 20


class Kind(StrEnum):
    """What a record is about; the values are the keys of `History`."""

    ADDRESS = "address"
    NETWORK = "network"
    WIDE_NETWORK = "wide_network"
    SYSTEM = "system"
    EMAIL = "email"
    EMAIL_DOMAIN = "email_domain"
    NAME = "name"
    DOMAINS = "domains"
    CONTENT = "content"
    ACCOUNT = "account"
    # Of these, decisions on comments with a commercial link or a product alone.
    EMAIL_OFFERS = "email_offers"
    ACCOUNT_OFFERS = "account_offers"


# Whatever a burst can be seen by; each more would cost every comment two counters.
_OF_TEXT = frozenset({Kind.DOMAINS, Kind.CONTENT})
SIGHTED = _OF_TEXT | {Kind.ADDRESS, Kind.EMAIL}
_ADDED = frozenset({Edit.ADDED_LINK, Edit.ADDED_OFFER})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordName:
    """The name of one record over all sites, and the name it had before the secret rotated.

    The older name is read and added; nothing is written under it any more. One that is not
    `counted` is only read: what the comment shows is nothing for it. `own` and `versions` are the
    names that count sightings which are no others: its sender's copies, the written one first, and
    the comment's versions.
    """

    kind: Kind
    name: str
    before_rotation: str | None = None
    counted: bool = True
    own: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        """Return the names under which the record is read."""
        return (self.name, self.before_rotation) if self.before_rotation else (self.name,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentNames:
    """The records that a comment belongs to, each kept for its site and for all sites."""

    site_id: SiteId
    records: tuple[RecordName, ...]
    sightings_of: frozenset[Kind] = SIGHTED

    def written(self) -> Iterator[tuple[Kind, str]]:
        """Yield every name under which the comment, or a decision on it, is counted."""
        for record in self.records:
            if record.counted:
                yield record.kind, record.name
                yield record.kind, at_site(record.name, self.site_id)

    def sighted(self) -> Iterator[str]:
        """Yield every name under which a sighting of the comment is counted.

        An edit is none of its sender, and one of its text if it added a link or an offer.
        """
        for record in self.records:
            if record.kind in self.sightings_of:
                yield record.name
                yield from record.own[:1]
                yield from record.versions

    def read(self) -> Iterator[str]:
        """Yield every name that decisions are read from."""
        for record in self.records:
            for name in record.all():
                yield name
                yield at_site(name, self.site_id)

    def accounts(self) -> tuple[str, ...]:
        """Return the names under which the account's conduct is kept, the present one first."""
        found = (record.all() for record in self.records if record.kind is Kind.ACCOUNT)
        return next(found, ())

    def watched(self) -> Iterator[str]:
        """Yield every name that sightings are read from."""
        for record in self.records:
            if record.kind in SIGHTED:
                yield from record.all()
                yield from record.own
                yield from record.versions


def names_of(comment: Comment) -> CommentNames:
    """Return the names of the records that a comment belongs to, at most 34.

    Addresses, e-mails and names come as keyed hashes; domains and fingerprints as digests, because
    they are hostile text of any length. The domains of the biggest mail providers are left out.
    """
    sender, judged = comment.sender, judged_text(comment)
    older = sender.before_rotation or Sender()
    keyed = (
        _keyed(Kind.ADDRESS, sender.address_key, older.address_key),
        _keyed(Kind.NETWORK, sender.network_key, older.network_key),
        _keyed(Kind.WIDE_NETWORK, sender.wide_network_key, older.wide_network_key),
        _keyed(Kind.EMAIL, sender.email_key, older.email_key),
        _keyed(Kind.NAME, sender.name_key, older.name_key),
        _keyed(Kind.ACCOUNT, sender.account_key, older.account_key),
        *_of_offers(judged, sender, older),
    )
    plain = []
    if sender.system is not None:
        plain.append(RecordName(kind=Kind.SYSTEM, name=f"{Kind.SYSTEM}:{sender.system}"))
    domain = (sender.email_domain or "").lower()
    if domain and domain not in FREE_MAIL_DOMAINS:
        name = f"{Kind.EMAIL_DOMAIN}:{_digest(domain)}"
        plain.append(RecordName(kind=Kind.EMAIL_DOMAIN, name=name))
    own = [record for record in keyed if record]
    if comment.edit is Edit.BY_STAFF:
        own = [replace(record, counted=False) for record in own]
    sightings_of = SIGHTED
    if comment.edit is not None:
        sightings_of = _OF_TEXT if comment.edit in _ADDED else frozenset()
    return CommentNames(
        site_id=comment.site_id,
        records=(*own, *plain, *_domains(comment), *_content(judged)),
        sightings_of=sightings_of,
    )


def names_of_person(sender: Sender) -> tuple[str, ...]:
    """Return the names over all sites of the records that are one person's, older ones too.

    That is the address, the e-mail, the name and the account; networks, systems and domains are
    others' too.
    """
    return tuple(
        f"{kind}:{key}"
        for known in sender.generations
        for kind, key in (
            (Kind.ADDRESS, known.address_key),
            (Kind.EMAIL, known.email_key),
            (Kind.EMAIL_OFFERS, known.email_key),
            (Kind.NAME, known.name_key),
            (Kind.ACCOUNT, known.account_key),
            (Kind.ACCOUNT_OFFERS, known.account_key),
        )
        if key
    )


def owners_of(sender: Sender) -> tuple[str, ...]:
    """Return the names by which a person's accounts are found: the e-mail and the name."""
    keys = ((Kind.EMAIL, sender.email_key), (Kind.NAME, sender.name_key))
    return tuple(f"{kind}:{key}" for kind, key in keys if key)


def names_of_accounts(sender: Sender) -> tuple[str, ...]:
    """Return the names of the account's own record, the older one too."""
    known = sender.generations
    return tuple(f"{Kind.ACCOUNT}:{one.account_key}" for one in known if one.account_key)


def all_names_of_account(name: str) -> tuple[str, str]:
    """Return all names under which anything is counted for an account of this name."""
    return name, f"{Kind.ACCOUNT_OFFERS}:{name.partition(':')[2]}"


def at_site(name: str, site_id: SiteId) -> str:
    return f"{name}@{site_id}"


def _of_offers(comment: Comment, sender: Sender, older: Sender) -> Iterator[RecordName | None]:
    """Yield the records of offers, counted where the comment makes one."""
    if not (sender.email_key or sender.account_key):
        return
    counted = offers(comment)
    for kind, key, before in (
        (Kind.EMAIL_OFFERS, sender.email_key, older.email_key),
        (Kind.ACCOUNT_OFFERS, sender.account_key, older.account_key),
    ):
        named = _keyed(kind, key, before)
        yield replace(named, counted=counted) if named else None


def _keyed(kind: Kind, key: str | None, older: str | None) -> RecordName | None:
    if not key:
        return None
    before = f"{kind}:{older}" if older and older != key else None
    return RecordName(kind=kind, name=f"{kind}:{key}", before_rotation=before)


def _domains(comment: Comment) -> Iterator[RecordName]:
    different = dict.fromkeys(domain.lower() for domain in linked_domains(comment))
    for domain in list(different)[:MAX_DOMAINS]:
        name = f"{Kind.DOMAINS}:{_digest(domain)}"
        yield RecordName(kind=Kind.DOMAINS, name=name, versions=_versions(name, comment))


def _content(comment: Comment) -> Iterator[RecordName]:
    """Yield the records of near-copies; of an edit the sender may be another, or unknown."""
    keys = _keys_of_person(comment)
    for fingerprint in fingerprints_of(comment.text):
        name = f"{Kind.CONTENT}:{fingerprint}"
        versions = _versions(name, comment) if comment.edit or not keys else ()
        yield RecordName(kind=Kind.CONTENT, name=name, own=_own(name, *keys), versions=versions)


def _keys_of_person(comment: Comment) -> list[str]:
    """Return a person's keys across sites: e-mail, GitHub login, account, or name and address."""
    sent = comment.sender.generations
    is_login = platform_of(comment.site_comment_id)[0] in ("github", "github-thread")
    return (
        [one.email_key for one in sent if one.email_key]
        or [one.name_key for one in sent if one.name_key and is_login]
        or [one.account_key for one in sent if one.account_key]
        or [f"{one.name_key}{one.address_key}" for one in sent if one.name_key and one.address_key]
    )


def _versions(name: str, comment: Comment) -> tuple[str, ...]:
    """Return the name that counts the sightings of this comment's versions."""
    if not comment.site_comment_id:
        return ()
    return _own(name, f"{comment.site_id}\0{unversioned(comment.site_comment_id)}")


def _own(name: str, *keys: str) -> tuple[str, ...]:
    """Return a digest of the name and each key, from which no sender can be recognised."""
    return tuple(f"{name}:{_digest(f'{name}{key}')}" for key in dict.fromkeys(keys))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
