"""A comment together with everything known about it: what a moderator or a site sees."""

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
    """The spam to look for: all without an approval in force, or only held spam."""

    NOT_APPROVED = "not approved"
    HELD = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Appeal:
    """An author's objection to a comment's being held or rejected; open until a person rules."""

    text: str
    at: datetime
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A comment, its verdict once there is one, and all its decisions, oldest first.

    `audit` marks a random sample of confident verdicts that a moderator checks. `reports` are
    oldest first. `withdrawn_at` is set once the comment was deleted at its site; its text is then
    deleted. `campaign_id` is set if it belongs to a campaign. `second_opinion` is on an unsure
    comment. `explains_spam` is the site's setting.
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
        outcome = self.verdict.outcome if self.verdict else None
        ruling = self.decision.ruling if self.decision else None
        return choose_action(self.mode, outcome, ruling)

    @property
    def needs_review(self) -> bool:
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
        """Return True if a person may still rule, for the first time or on an appeal."""
        return self.withdrawn_at is None and (self.decision is None or self.is_appealed)

    @property
    def is_explained(self) -> bool:
        """Return True if the author may read why the comment is held or rejected.

        False without a verdict, and for spam unless the site's `explains_spam` is set.
        """
        if self.verdict is None or self.withdrawn_at is not None or self.action is Action.PUBLISH:
            return False
        return self.verdict.outcome is not Outcome.SPAM or self.explains_spam

    @property
    def may_be_appealed(self) -> bool:
        """Return True if the author may appeal, which is possible once."""
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
    """Selects the cases of a list. Fields that are None do not narrow it.

    `needs_review` selects the review queue (`Case.needs_review`), `held_as_spam` undecided spam
    that a site in *hold* holds and the queue does not list.
    """

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
    NEWEST = "newest"
    # Appeals, unsure comments, then others; each by cost of waiting (`scoring.review_order`).
    REVIEW = "review"
    OLDEST = "oldest"
    # Nearest to an even chance first.
    DOUBT = "doubt"
    # By site, each from the oldest.
    SITE = "site"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A moderator who looks at a comment. It never prevents decisions."""

    comment_id: CommentId
    user_id: str
    user_name: str
    since: datetime
    until: datetime


# Counting further would take ever longer and not help.
MAX_COUNTED = 1_000
MAX_OTHER_NAMES = 5
MAX_LAST = 3
MAX_LINKED_DOMAINS = 5


class Trait(StrEnum):
    ADDRESS = "address"
    NETWORK = "network"
    EMAIL = "e-mail"
    NAME = "name"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitRecord:
    """The outcomes of the other comments with one trait.

    `key` is the keyed hash, of a domain the domain itself. `seen` counts them up to `MAX_COUNTED`;
    if `capped`, there are more, which are not counted. `waiting` ones need a moderator's decision.
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
    """Everything known about a comment's sender.

    `other_names` wrote from the same address or e-mail. `last` are the newest other comments with
    the same address, e-mail or, without either, name.
    """

    traits: tuple[TraitRecord, ...] = ()
    other_names: tuple[str, ...] = ()
    last: tuple[Case, ...] = ()


def keys_of(comment: Comment) -> dict[Trait, tuple[str, ...]]:
    """Return the sender's keys by trait, the present one before the one before a rotation."""
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
    """Return the keys that identify one person: address and e-mail; without either the name."""
    keys = keys_of(comment)
    kept = {Trait.ADDRESS, Trait.EMAIL}.intersection(keys) or {Trait.NAME}
    return {trait: some for trait, some in keys.items() if trait in kept}
