"""A comment as every adapter delivers it, with its post, author, sender and reports."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType

from service.domain.form import FormBehaviour, FormToken


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledText:
    """A text that somebody approved or rejected, in salted digests that hide its words.

    `spellings` are digests that a word shares with its misspellings, 0 for short words. `ways` are
    links, hosts, contacts and numbers. `domains` are those of links.
    """

    approved: bool
    by: str
    words: tuple[int, ...] = ()
    spellings: tuple[int, ...] = ()
    ways: tuple[int, ...] = ()
    domains: tuple[int, ...] = ()
    offers: bool = False


CommentId = NewType("CommentId", str)
SiteId = NewType("SiteId", str)

# The edge refuses longer texts with 413; the longest real comment has 6 kB.
MAX_TEXT_BYTES = 65_536
MAX_TITLE_CHARS = 500
# Enough to show a post's topic; longer texts are cut here when the comment is accepted.
MAX_EXCERPT_CHARS = 4_000
MAX_NAME_CHARS = 300
MAX_URL_CHARS = 2_048
MOST_TRUST = 4


class Lane(StrEnum):
    """The queue of a comment: a client waits for its verdict, or none does."""

    INTERACTIVE = "interactive"
    BULK = "bulk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    url: str | None = None
    title: str | None = None
    excerpt: str | None = None
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """The stated author; `Sender` has the e-mail's key. `trust_level` is 0 to 4 as in Discourse."""

    name: str | None = None
    url: str | None = None
    account_id: str | None = None
    account_age_days: int | None = None
    trust_level: int | None = None


class ListKind(StrEnum):
    NETWORKS = "networks"
    DOMAINS = "domains"
    MAIL_DOMAINS = "mail_domains"


class ListBasis(StrEnum):
    """The reason for a list's entries: `toxic` are whole networks of spammers."""

    TOXIC = "toxic"
    REPORTED = "reported"
    TOR = "tor"
    DATA_CENTRE = "data_centre"
    MACHINE_MADE = "machine_made"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One reputation list that had the sender when the comment was received.

    `age_days` was the list's age then. `worth` is the share, from 0 to 1, of a list's weight that
    `decisions` here confirmed, None without decisions. Both are set at judging and never stored.
    """

    list_name: str
    kind: ListKind
    age_days: float
    basis: ListBasis = ListBasis.REPORTED
    worth: float | None = field(default=None, metadata={"kept": False})
    decisions: int = field(default=0, metadata={"kept": False})


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHits:
    """Comments with a sender on a list, and their decisions."""

    comments: int = 0
    approved: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Keyed hashes that recognise a sender without identifying the person.

    `network_key` is of the IPv4 /24 or the IPv6 /64, `wide_network_key` of the IPv6 /48, `name_key`
    of the normalised name. `account_key` is of the site and the account's id; without an id, of the
    site, the name and the e-mail address. `email_domain` and `system`, the number of the autonomous
    system, are not hashed. `before_rotation` has the keys under the previous secret, then those of
    the e-mail address as typed, if that differs from its normal form.
    """

    address_key: str | None = None
    network_key: str | None = None
    wide_network_key: str | None = None
    system: int | None = None
    email_key: str | None = None
    email_domain: str | None = None
    name_key: str | None = None
    account_key: str | None = None
    before_rotation: "Sender | None" = None
    listings: tuple[Listing, ...] = ()

    @property
    def generations(self) -> tuple["Sender", ...]:
        """Return the present keys, then the older ones."""
        return (self, *(self.before_rotation.generations if self.before_rotation else ()))

    @property
    def is_known(self) -> bool:
        return replace(self, before_rotation=None, listings=()) != Sender()


class CommentKind(StrEnum):
    """What a site received instead of a typed comment, named as by WordPress's plugins.

    The site composes the text of reactions. Mentions quote the page that links to the post.
    """

    LIKE = "like"
    REPOST = "repost"
    BOOKMARK = "bookmark"
    REACTION = "reaction"
    RSVP = "rsvp"
    MENTION = "mention"
    WEBMENTION = "webmention"
    PINGBACK = "pingback"
    TRACKBACK = "trackback"

    @property
    def is_mention(self) -> bool:
        return self in ("mention", "webmention", "pingback", "trackback")

    @classmethod
    def read(cls, given: str | None) -> "CommentKind | None":
        """Return the kind of a `comment_type`, None for typed comments and unknown types."""
        name = (given or "").strip().lower().partition(":")[0].replace("_", "-")
        name = "rsvp" if name.startswith("rsvp-") else name.removesuffix("-of")
        name = _KIND_ALIASES.get(name, name)
        return next((kind for kind in cls if kind.value == name), None)


_KIND_ALIASES = {
    alias: kind
    for kind, aliases in {
        "pingback": "ping",
        "mention": "quote",
        "like": "likes favorite favourite favorites favourites fave star upvote",
        "repost": "reposts share boost announce reblog",
        "bookmark": "bookmarks",
        "rsvp": "attend attending invite invited",
        "reaction": "reacji emoji emoji-react emojireact emoji-reaction follow read tag listen"
        " watch checkin dislike",
    }.items()
    for alias in aliases.split()
}


class Edit(StrEnum):
    """What an edit did to a comment that its site showed already.

    A person rejected the comment (`REJECTED`); somebody who may moderate at the site edited it
    (`BY_STAFF`). The last three followed an approval or a verdict that published it.
    """

    UNAPPROVED = "unapproved"
    REJECTED = "rejected"
    BY_STAFF = "by_staff"
    APPROVED = "approved"
    ADDED_LINK = "added_link"
    ADDED_OFFER = "added_offer"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormEvidence:
    """What the site's form observed; None is unknown.

    `seconds_on_page` passed between the page's loading and its sending. `honeypot_filled` is True
    if a field was filled in that people cannot see.
    """

    seconds_on_page: float | None = None
    honeypot_filled: bool | None = None
    behaviour: FormBehaviour | None = None
    token: FormToken | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment as it was received; immutable.

    `kind` is None for typed comments, `edit` is None for the first version. `ruled` is the text of
    a person's last ruling, on an earlier version.
    """

    id: CommentId
    site_id: SiteId
    text: str
    received_at: datetime
    post: Post = field(default_factory=Post)
    author: Author = field(default_factory=Author)
    sender: Sender = field(default_factory=Sender)
    form: FormEvidence = field(default_factory=FormEvidence)
    site_comment_id: str | None = None
    written_at: datetime | None = None
    language: str | None = None
    user_agent: str | None = None
    reply_to: str | None = None
    kind: CommentKind | None = None
    edit: Edit | None = None
    ruled: RuledText | None = None

    def __post_init__(self) -> None:
        if not self.id or not self.site_id:
            msg = f"a comment needs an id and a site, got {self.id!r} and {self.site_id!r}"
            raise ValueError(msg)
        if self.received_at.tzinfo is None:
            raise ValueError(f"received_at must carry a time zone, got {self.received_at!r}")

    def fingerprint(self) -> str:
        """Return a SHA-256 over what the site sent, the same for every repeat of one request.

        Repeats may differ in ids, times, the post's date (its last change in WordPress), the
        sender's keys and listings, the account's age and trust, form, edit, kind and user agent.
        """
        parts = [
            self.site_id,
            self.site_comment_id,
            self.text,
            self.post.url,
            self.post.title,
            self.post.excerpt,
            self.author.name,
            self.author.url,
            self.author.account_id,
            self.sender.email_domain,
            self.written_at.isoformat() if self.written_at else None,
            self.language,
            self.reply_to,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Label(StrEnum):
    """The two labels of a comment."""

    SPAM = "spam"
    HAM = "ham"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A site's report that a comment was judged wrongly; `comment_id` is None if it is unknown.

    Some clients report as soon as any reader clicks a flag, so only the site's settings make it a
    moderator's decision; otherwise it brings the comment before a moderator.
    """

    id: str
    site_id: SiteId
    label: Label
    reported_at: datetime
    comment_id: CommentId | None = None
    reported_by: str | None = None
