"""What the use cases need from the outside, each as a Protocol whose docstrings are its contract.

Every adapter raises `StoreUnavailableError` when its backend cannot be reached in time, and
nothing else for outside reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from models.inputs import ModelInput, ModelOutput
from service.domain.case import Case, CaseFilter, CasePage, Order, PendingComment
from service.domain.comment import Comment, CommentId, Lane, Listing, ListKind, Sender, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    Endpoint,
    SendOutcome,
)
from service.domain.history import History
from service.domain.inbound import InboundHook
from service.domain.precedent import Precedent, PrecedentPage
from service.domain.report import Report
from service.domain.sender import SenderSecrets
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.tally import Tally
from service.domain.user import User
from service.domain.verdict import Verdict
from service.scoring.weights import Cutoffs, Weights

Clock = Callable[[], datetime]
"""Returns the present moment, in UTC and time-zone aware."""


class AddOutcome(StrEnum):
    """What became of a comment that was to be kept."""

    NEW = "new"
    REPEAT = "repeat"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComment:
    """A comment on its way in, with what makes repeats of it recognisable.

    `lane` is kept with it, and it is never queued in another one.
    """

    comment: Comment
    lane: Lane
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The answer to one `NewComment`: the id under which this content is kept.

    For CONFLICT it is the id of the earlier comment that holds the key with other content.
    """

    outcome: AddOutcome
    comment_id: CommentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A comment to be judged, with how often that was tried before.

    The site's settings come along so that judging needs no second look-up.
    """

    comment: Comment
    attempts: int
    settings: SiteSettings


class CommentStore(Protocol):
    """Keeps comments. What `add` has returned for is durable."""

    def add(self, comments: Sequence[NewComment]) -> list[Added]:
        """Keep the comments in one transaction and answer for each, in order.

        A comment repeats an earlier one of the same site if it has the same idempotency key or
        the same `site_comment_id`; it is a REPEAT if `fingerprint()` agrees and a CONFLICT if
        not. Repeats within one call count too. Without either key every comment is NEW.
        Safe under concurrent calls: of two equal keys exactly one becomes NEW. Adding the same
        id again is a repeat too, so a call whose answer was lost can be made again. Raise
        `NotFoundError`, and keep none of them, if one is of an unknown site.
        """

    def load_unjudged(self, ids: Sequence[CommentId]) -> list[Attempt]:
        """Return those of `ids` that are kept and have no verdict.

        Unknown, repeated and already judged ids are left out. The order follows `ids`.
        """

    def count_attempt(self, ids: Sequence[CommentId]) -> None:
        """Add one to `attempts` of each id, durably, before its judging starts.

        A comment that takes the whole worker down is recognised by this count.
        """

    def mark_queued(self, ids: Sequence[CommentId], at: datetime) -> None:
        """Remember that these ids were handed to the queue at `at`, each in its own lane."""

    def find_stranded(
        self, lane: Lane, *, queued_before: datetime, received_before: datetime, limit: int
    ) -> list[PendingComment]:
        """Return a lane's comments without a verdict, oldest first, that it seems to have lost.

        That is: never queued and received before `received_before`, or queued before
        `queued_before`, or queued well before a comment of the same lane that already has its
        verdict (a lane is first in, first out), that is earlier than the newest judged one's
        `queued_at` less one minute. What goes on in other lanes changes nothing.
        """

    def find_by_content(
        self, site_id: SiteId, content_key: str, *, since: datetime
    ) -> list[CommentId]:
        """Return a site's comments with this `content_key`, received since then, newest first.

        At most the newest hundred; withdrawn ones are left out.
        """

    def find_by_site_ids(
        self, site_id: SiteId, site_comment_ids: Sequence[str]
    ) -> Mapping[str, CommentId]:
        """Return which of the site's own ids are kept, and as which comments; withdrawn ones too.

        At most a thousand may be asked for.
        """

    def withdraw(self, comment_id: CommentId, *, at: datetime) -> None:
        """Honour a deletion: blank the comment's words, names and sender, and leave the queue.

        Gone are the text, the author, the sender's keys, the user agent and the post's excerpt.
        Verdict, decisions and log stay, so that figures stay true, and so do the keys by which a
        repeat is recognised: sending it again is a REPEAT. A withdrawn comment is never judged,
        swept, counted as pending or listed for review. Withdrawing twice is harmless. Raise
        `NotFoundError` for an unknown comment.
        """

    def count_pending(self) -> Mapping[Lane, int]:
        """Return how many kept comments have no verdict, by lane."""

    def find_sent_by(self, sender: Sender, *, limit: int) -> list[CommentId]:
        """Return comments with the address, e-mail or name key of this sender, in no order.

        Its keys before the rotation count as well; what is None finds nothing. Looks at every
        comment there is: nobody waits for it.
        """

    def erase_senders(self, ids: Sequence[CommentId]) -> None:
        """Take all that is known of their senders off these comments; `Sender()` is left.

        The comment's own words and names stay, and so does its `fingerprint`, by which repeats
        are known.
        """


class VerdictStore(Protocol):
    """Keeps verdicts, one a comment, for good."""

    def add(
        self,
        verdicts: Sequence[Verdict],
        *,
        audit: frozenset[CommentId],
        deliveries: Sequence[Delivery] = (),
    ) -> list[CommentId]:
        """Store the verdicts of comments that have none yet; return whose were stored.

        Verdicts of comments that are not kept, or were withdrawn, are left out. A comment that
        already has a verdict keeps it untouched. `audit` names the comments that go to a
        moderator as part of the random audit sample. Of `deliveries` those about comments whose
        verdict was stored now are kept in the same transaction, so that none is ever lost.
        """


class DecisionStore(Protocol):
    """Keeps decisions; nothing is ever deleted, only marked as undone."""

    def add(self, decision: Decision, *, deliveries: Sequence[Delivery] = ()) -> Decision | None:
        """Append a decision; return the one it replaces, marked as undone by it, if any.

        Both happen in one transaction, so that at most one decision of a comment is in force
        however many moderators rule at once. `deliveries` are kept in the same transaction, so
        that neither is there without the other. Raise `NotFoundError` if the comment is not kept,
        `ConflictError` if the decision's id is taken.
        """

    def undo(
        self, comment_id: CommentId, *, by: str, at: datetime, deliveries: Sequence[Delivery] = ()
    ) -> Decision:
        """Mark the decision in force as undone and return it so marked.

        `deliveries` are kept in the same transaction. Raise `NotFoundError` if the comment has no
        decision in force; nothing is kept then.
        """

    def find_unremembered(self, *, limit: int) -> list[Precedent]:
        """Return decisions whose making or undoing histories may not know of, the oldest first.

        `add` and `undo` put a decision here in their own transactions, `mark_remembered` takes it
        out again.
        """

    def mark_remembered(self, decisions: Sequence[Decision]) -> None:
        """Say that histories know of these decisions as they stand in the arguments.

        One that was undone since is left where it is: histories know of its making alone.
        """

    def find_in_force(self, *, after: int, limit: int) -> PrecedentPage:
        """Return decisions in force in the order they were made in, from the first if `after` is 0.

        A page's `next_after` is the next one's `after`. What is decided meanwhile comes later.
        """


class CaseStore(Protocol):
    """Reads comments together with their verdicts and decisions."""

    def get(self, comment_id: CommentId, *, site_id: SiteId | None = None) -> Case:
        """Return one case. Raise `NotFoundError` if it is not kept, or belongs to another site."""

    def find_judged(self, ids: Sequence[CommentId]) -> list[Case]:
        """Return the cases of those ids that have their verdict, in no order; cheap to repeat."""

    def page(
        self, criteria: CaseFilter, *, order: Order, cursor: str | None, limit: int
    ) -> CasePage:
        """Return one page. Raise `InvalidInputError` for a cursor that this store did not make."""

    def count(self, criteria: CaseFilter) -> int:
        """Return how many cases match."""

    def tally(
        self, site_id: SiteId, *, received_from: datetime, received_before: datetime
    ) -> Tally:
        """Return the counts of a site's comments received in this stretch of time."""


class SiteStore(Protocol):
    """Keeps sites and the hashes of their keys."""

    def add(self, site: Site) -> None:
        """Keep a site. Raise `ConflictError` if its name is taken."""

    def update_settings(self, site_id: SiteId, settings: SiteSettings) -> Site:
        """Replace a site's settings. Raise `NotFoundError` for an unknown site."""

    def get(self, site_id: SiteId) -> Site:
        """Return a site. Raise `NotFoundError` for an unknown one."""

    def all(self) -> list[Site]:
        """Return all sites, by name."""

    def add_key(self, key: SiteKey) -> None:
        """Keep a key's hash. Raise `NotFoundError` for an unknown site."""

    def find_key(self, secret_sha256: str) -> tuple[SiteKey, Site] | None:
        """Return the key with this hash, valid or not, and its site; None if there is none."""

    def list_keys(self, site_id: SiteId) -> list[SiteKey]:
        """Return a site's keys, oldest first, the revoked ones too."""

    def end_key(
        self, key_id: str, *, expires_at: datetime | None = None, revoked_at: datetime | None = None
    ) -> SiteKey:
        """Set a key's end and return it. Raise `NotFoundError` for an unknown key."""


class UserStore(Protocol):
    """Keeps moderators' accounts."""

    def add(self, user: User) -> None:
        """Keep an account. Raise `ConflictError` if its name is taken."""

    def replace(self, user: User) -> None:
        """Replace the account with this id. Raise `NotFoundError` for an unknown one."""

    def end_sessions(self, user_id: str) -> None:
        """Add one to an account's `session_epoch`, and leave everything else as it is by then.

        Raise `NotFoundError` for an unknown one.
        """

    def get(self, user_id: str) -> User | None:
        """Return an account by id."""

    def find(self, name: str) -> User | None:
        """Return an account by name, without regard to case."""

    def all(self) -> list[User]:
        """Return all accounts, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One act, for the log that is only ever appended to. `detail` never holds comment text."""

    at: datetime
    actor: str
    act: str
    subject: str
    detail: str = ""


class AuditLog(Protocol):
    """Remembers every act of a person."""

    def append(self, entry: AuditEntry) -> None:
        """Append one act."""

    def recent(self, *, subject: str | None = None, limit: int = 100) -> list[AuditEntry]:
        """Return the newest acts first, of one subject if given."""


class ReportStore(Protocol):
    """Keeps reports."""

    def add(self, report: Report) -> bool:
        """Keep a report; return whether it was new.

        A second report of one comment with the label of its newest report changes nothing, nor
        does a known id. A report of a comment that has its verdict, no decision, and the other
        outcome brings it into the review queue, in the same transaction. Raise `NotFoundError`
        for an unknown site or comment, or a comment of another site.
        """


class EndpointStore(Protocol):
    """Keeps where sites want to be told."""

    def put(self, endpoint: Endpoint) -> None:
        """Keep a site's endpoint in place of an earlier one. Raise `NotFoundError`."""

    def get(self, site_id: SiteId) -> Endpoint | None:
        """Return a site's endpoint, None if it wants none."""

    def remove(self, site_id: SiteId) -> None:
        """Forget a site's endpoint; harmless if there is none."""


class DeliveryStore(Protocol):
    """Keeps what sites are to be told, until they have been told."""

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """Keep deliveries; a known id changes nothing. Raise `NotFoundError` for no comment.

        `seq` is given by the store: of one comment's deliveries what was kept later has the
        higher one.
        """

    def take_due(
        self,
        now: datetime,
        *,
        until: datetime,
        limit: int,
        except_sites: Collection[SiteId] = (),
    ) -> list[Delivery]:
        """Return waiting deliveries whose time has come, and lend them till `until`.

        Those of `except_sites` stay where they are: such a site is being told enough already.

        Those that are due the longest come first. At most one a comment: a later one waits until
        the earlier was delivered or given up. No other call returns a lent one, or another of its
        comment, before `until` or `record`.
        """

    def record(
        self,
        attempt: DeliveryAttempt,
        *,
        state: DeliveryState,
        next_try_at: datetime | None = None,
    ) -> Delivery:
        """Log an attempt, set what follows from it and return the delivery.

        WAITING goes on at `next_try_at`, at once without one. What was delivered stays so,
        whatever a slower worker tells, and what was given up waits no more until it is replayed.
        Raise `NotFoundError` for an unknown delivery.
        """

    def postpone(self, delivery_id: str, *, until: datetime) -> None:
        """Give a lent delivery back untried, to be due at `until`; harmless for any other."""

    def replay(self, delivery_ids: Sequence[str], *, at: datetime) -> int:
        """Let given-up deliveries be tried again from the start; return how many there were."""

    def get(self, delivery_id: str) -> Delivery:
        """Return a delivery. Raise `NotFoundError` for an unknown one."""

    def recent(
        self, *, state: DeliveryState | None, site_id: SiteId | None, limit: int
    ) -> list[Delivery]:
        """Return the newest deliveries first."""

    def attempts(self, delivery_id: str) -> list[DeliveryAttempt]:
        """Return a delivery's attempts, oldest first."""

    def prune(self, *, delivered_before: datetime, limit: int) -> int:
        """Delete those delivered longest ago, with their attempts; return how many, at most limit.

        What waits or was given up is never deleted, however old.
        """


class DeliveryQueue(Protocol):
    """Wakes whoever delivers."""

    def wake(self) -> None:
        """Ask that what is due goes out now; without it that happens some seconds later.

        Raise `StoreUnavailableError` within about two seconds if it can't.
        """


class SiteNotifier(Protocol):
    """Speaks to sites, at addresses that strangers chose and that lead nowhere forbidden."""

    def refuse(self, url: str) -> str | None:
        """Say in fixed words why this address is never called; None if it may be.

        Nobody is asked: what a name stands for is looked at when it is called.
        """

    def send(self, delivery: Delivery, endpoint: Endpoint | None) -> SendOutcome:
        """Send one message and return what came of it; end in time, whatever the site does.

        `endpoint` signs Standard Webhooks. What goes wrong outside is told, never raised.
        """


class InboundStore(Protocol):
    """Keeps inbound hooks and remembers which of their deliveries were seen."""

    def add(self, hook: InboundHook) -> None:
        """Keep a hook. Raise `NotFoundError` for an unknown site, `ConflictError` for its id."""

    def get(self, hook_id: str) -> InboundHook | None:
        """Return a hook, revoked or not."""

    def all(self, site_id: SiteId | None = None) -> list[InboundHook]:
        """Return hooks, oldest first."""

    def revoke(self, hook_id: str, *, at: datetime) -> InboundHook:
        """End a hook at once. Raise `NotFoundError`."""

    def remember(self, hook_id: str, delivery_id: str, *, at: datetime, forget: datetime) -> bool:
        """Remember a delivery; return False if it was seen since `forget`. Forgets older ones.

        Of several calls at once one returns True. Raise `NotFoundError` for an unknown hook.
        """

    def has_seen(self, hook_id: str, delivery_id: str, *, since: datetime) -> bool:
        """Say whether a delivery was remembered at `since` or later."""


class HistoryStore(Protocol):
    """Remembers decisions, and sightings apart from them. Only decisions teach it."""

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """Return the history of each comment, in order, in one round trip for all.

        The first time a comment's id is gathered it is counted as seen at `now`. The earlier
        comments of a batch are seen by the later ones; no comment is its own earlier sighting,
        however often it is gathered. A store that takes no writes now, or is nearly full, gathers
        all the same and counts no sighting. With `only_filled` raise `HistoryBlankError` while
        `is_blank`.
        """

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Count a decision made at `at` once; a repeat of the same `decision_id` changes nothing.

        The order in which decisions are learnt never matters. Return whether it was counted now.
        """

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Take a counted decision back exactly; harmless if it is not counted.

        What is taken back is the ruling and the moment that were learnt. It is never counted
        again afterwards, so a delayed repeat of `learn` does no harm. Return whether it was taken
        back now.
        """

    def forget(self, sender: Sender) -> None:
        """Drop the records of this address, e-mail and name at all sites, older keys' too.

        Networks, systems and domains stay: they are others' too.
        """

    def is_blank(self) -> bool:
        """Say whether `mark_filled` was never called on what is kept now: new, or wiped."""

    def mark_filled(self) -> None:
        """Remember, for as long as anything is kept, that all past decisions have been learnt."""


class RebuildPlace(Protocol):
    """Keeps how far a rebuild of the histories has come, where whatever wipes them wipes it too."""

    def find(self) -> int:
        """Return the place; where there is none it is 0 from now on."""

    def move(self, seen: int, to: int) -> bool:
        """Set the place if it is still `seen`; return whether it was."""

    def clear(self, seen: int) -> bool:
        """Forget the place if it is still `seen`; return whether it was."""


class ReputationLists(Protocol):
    """Looks senders up in the lists that were imported; answers from memory and never raises."""

    def has(self, kind: ListKind) -> bool:
        """Say whether there is a list of this kind, be it expired."""

    def find(
        self,
        *,
        address: str | None,
        domains: Sequence[str],
        mail_domain: str | None,
        at: datetime,
    ) -> Sequence[Listing]:
        """Return the lists that hold the address, one of the domains or the mail domain.

        Each list comes at most once, with its age at this moment; one past its expiry says
        nothing. Addresses of private networks are on no list. At most `MAX_LOOKED_UP` domains
        are looked up.
        """


class ScoringQueue(Protocol):
    """Carries ids, never comments, to the workers."""

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """Hand the ids over. Raise `StoreUnavailableError` within about two seconds if it can't."""

    def depth(self) -> Mapping[Lane, int]:
        """Return how many ids wait, by lane."""


class Classifier(Protocol):
    """Reads comments and says how likely each is spam."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer.

        Raise `ModelUnavailableError` if it can't answer at all.
        """


class PasswordHasher(Protocol):
    """Turns passwords into slow, salted hashes."""

    def hash(self, password: str) -> str:
        """Return a salted hash that is slow to guess from."""

    def verify(self, password_hash: str, password: str) -> bool:
        """Say whether the password made this hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingModel:
    """Everything that belongs to one model version and is used together, never mixed."""

    version: str
    classifier: Classifier
    weights: Weights
    cutoffs: Cutoffs


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the use cases are handed. Built in one place, `service.wiring`.

    `current_model` is asked once a batch, so that a swap of versions never mixes one.
    `new_id(prefix)` returns a fresh identifier that sorts by time, `new_secret()` at least 128
    random bits in URL-safe characters. `sender_secrets` key the hashes that recognise senders,
    `sender_secret` those of Akismet keys and of clients held to a rate. `find_system(address)`
    returns the number of the autonomous system that announces an address, None for an unknown one.
    `audit_share` is the share of confident verdicts, in [0, 1], that goes to a moderator as the
    audit sample.
    """

    comments: CommentStore
    verdicts: VerdictStore
    decisions: DecisionStore
    cases: CaseStore
    sites: SiteStore
    users: UserStore
    audit_log: AuditLog
    reports: ReportStore
    endpoints: EndpointStore
    deliveries: DeliveryStore
    inbound: InboundStore
    delivery_queue: DeliveryQueue
    notifier: SiteNotifier
    history: HistoryStore
    rebuild_place: RebuildPlace
    queue: ScoringQueue
    current_model: Callable[[], JudgingModel]
    clock: Clock
    passwords: PasswordHasher
    new_id: Callable[[str], str]
    new_secret: Callable[[], str]
    sender_secret: bytes
    sender_secrets: SenderSecrets
    reputation_lists: ReputationLists
    find_system: Callable[[str], int | None]
    audit_share: float = 0.02
