"""A comment together with everything known about it: what a moderator or a site sees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import Comment, CommentId, Report, SiteId
from service.domain.decision import Action, Decision, Mode, choose_action
from service.domain.verdict import Outcome, SecondOpinion, Verdict


class State(StrEnum):
    """How far a comment has come: waiting for its verdict, judged, or decided by a person."""

    PENDING = "pending"
    JUDGED = "judged"
    DECIDED = "decided"


class SpamOnly(StrEnum):
    """Which spam to look for: all that no decision in force approves, or what is held as spam."""

    NOT_APPROVED = "not approved"
    HELD = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Appeal:
    """What an author says against a comment's being held or rejected; open until a person rules."""

    text: str
    at: datetime
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A comment, its verdict once there is one, and all its decisions, oldest first.

    `audit` marks a random sample of confident verdicts that a moderator checks all the same.
    `reports` are oldest first. `withdrawn_at` is set once the comment was deleted at its site; its
    words are gone then. `campaign_id` is set once it was found to be one of several alike.
    `second_opinion` is on an unsure comment. `explains_spam` is the site's setting.
    """

    comment: Comment
    mode: Mode
    verdict: Verdict | None = None
    decisions: tuple[Decision, ...] = ()
    audit: bool = False
    reports: tuple[Report, ...] = ()
    withdrawn_at: datetime | None = None
    campaign_id: str | None = None
    second_opinion: SecondOpinion | None = None
    appeal: Appeal | None = None
    explains_spam: bool = False

    @property
    def decision(self) -> Decision | None:
        """Return the decision in force: the newest that was not undone."""
        in_force = [d for d in self.decisions if d.undone_at is None]
        return in_force[-1] if in_force else None

    @property
    def state(self) -> State:
        if self.decision is not None:
            return State.DECIDED
        return State.PENDING if self.verdict is None else State.JUDGED

    @property
    def action(self) -> Action:
        """Return what the site should do with the comment now."""
        outcome = self.verdict.outcome if self.verdict else None
        ruling = self.decision.ruling if self.decision else None
        return choose_action(self.mode, outcome, ruling)

    @property
    def needs_review(self) -> bool:
        """Return True if the comment waits for a moderator."""
        if self.verdict is None or not self.is_open:
            return False
        is_unsure = self.verdict.outcome is Outcome.UNSURE
        return is_unsure or self.audit or self.disputed or self.is_appealed

    @property
    def is_appealed(self) -> bool:
        """Return True if the author appealed and no person has ruled since."""
        return self.appeal is not None and self.appeal.is_open

    @property
    def is_open(self) -> bool:
        """Return True if a person may still rule first, or has to rule again on an appeal."""
        return self.withdrawn_at is None and (self.decision is None or self.is_appealed)

    @property
    def is_explained(self) -> bool:
        """Return True if the author may read why the comment is held or rejected.

        Not while there is no verdict, and not of what the machine calls spam unless its site wants
        that explained: nothing tells the two apart.
        """
        if self.verdict is None or self.withdrawn_at is not None or self.action is Action.PUBLISH:
            return False
        return self.verdict.outcome is not Outcome.SPAM or self.explains_spam

    @property
    def may_be_appealed(self) -> bool:
        """Return True if the author may appeal, which they may once."""
        return self.appeal is None and self.is_explained

    @property
    def disputed(self) -> bool:
        """Return True if the newest report contradicts the verdict and no decision was made."""
        if not self.reports or self.decision is not None:
            return False
        outcome = self.verdict.outcome if self.verdict else None
        return outcome is None or outcome.value != self.reports[-1].label.value


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """Which cases to list. Every field that is None does not narrow the list.

    `needs_review` keeps the review queue (`Case.needs_review`), `held_as_spam` what a site in
    *hold* holds as spam, nobody has decided and the queue does not list.
    """

    site_id: SiteId | None = None
    site_ids: tuple[SiteId, ...] | None = None
    state: State | None = None
    outcome: Outcome | None = None
    needs_review: bool | None = None
    held_as_spam: bool = False
    p_spam_below: float | None = None
    degraded: bool | None = None
    received_from: datetime | None = None
    received_before: datetime | None = None


class Order(StrEnum):
    """How a list of cases is ordered."""

    NEWEST = "newest"
    # Appeals before unsure ones before audit samples and reports; within each whatever costs most
    # while it waits, by doubt and by age (`service.scoring.review_order`).
    REVIEW = "review"
    OLDEST = "oldest"
    # What lies nearest to an even chance first.
    DOUBT = "doubt"
    # Site by site, within each the oldest first.
    SITE = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePage:
    """One page of cases; `next_cursor` is opaque and None on the last page."""

    cases: tuple[Case, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who looks at a comment: since when without a break, and till when without another word.

    It hinders nobody from deciding; it is a courtesy, not a lock.
    """

    comment_id: CommentId
    user_id: str
    user_name: str
    since: datetime
    until: datetime


# Who sent more than this sent many; counting on would tell nothing and take ever longer.
MAX_COUNTED = 1_000
MAX_OTHER_NAMES = 5
MAX_LAST = 3
MAX_LINKED_DOMAINS = 5


class Trait(StrEnum):
    """What a sender is recognised by."""

    ADDRESS = "address"
    NETWORK = "network"
    EMAIL = "e-mail"
    NAME = "name"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitRecord:
    """What the other comments with one trait came to.

    `key` is the keyed hash, of a domain the domain itself. `seen` counts them up to `MAX_COUNTED`;
    `capped` says that there are more, of which nothing was counted. `waiting` ones are for a
    moderator to decide.
    """

    trait: Trait
    key: str
    seen: int = 0
    approved: int = 0
    rejected: int = 0
    waiting: int = 0
    capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderRecord:
    """All that is known of a comment's sender.

    `other_names` wrote from the same address or e-mail; `last` are the newest other comments with
    the same address, e-mail or, where there is neither, name.
    """

    traits: tuple[TraitRecord, ...] = ()
    other_names: tuple[str, ...] = ()
    last: tuple[Case, ...] = ()


def keys_of(comment: Comment) -> dict[Trait, tuple[str, ...]]:
    """Return the sender's keys by trait, the present one first, then the one before rotation."""
    known = comment.sender.generations
    every = {
        Trait.ADDRESS: [one.address_key for one in known],
        Trait.NETWORK: [one.network_key for one in known],
        Trait.EMAIL: [one.email_key for one in known],
        Trait.NAME: [one.name_key for one in known],
    }
    found = {trait: tuple(key for key in keys if key) for trait, keys in every.items()}
    return {trait: keys for trait, keys in found.items() if keys}


def person_keys(comment: Comment) -> dict[Trait, tuple[str, ...]]:
    """Return the keys that are one person's: address and e-mail, without either the name."""
    keys = keys_of(comment)
    kept = {Trait.ADDRESS, Trait.EMAIL}.intersection(keys) or {Trait.NAME}
    return {trait: some for trait, some in keys.items() if trait in kept}
