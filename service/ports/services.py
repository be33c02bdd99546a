"""All ports, by room, as use cases are handed them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.domain.sender import SenderSecrets
from service.ports.audit import AuditLog
from service.ports.campaigns import CampaignStore
from service.ports.clock import Clock
from service.ports.comments import (
    BacklogStore,
    CommentStore,
    ReportStore,
    ScoringQueue,
    VerdictStore,
)
from service.ports.decisions import BulkDecisionStore, DecisionStore
from service.ports.delivery import (
    AppliedStore,
    DeliveryQueue,
    DeliveryStore,
    EndpointStore,
    InboundStore,
    SiteNotifier,
)
from service.ports.digest import DigestClaims, Mailer, Room
from service.ports.forms import FormChallenges, SpentTokens
from service.ports.history import HistoryStore, RebuildPlace, ReputationLists, SenderRecords
from service.ports.models import JudgingModel, VersionShelf
from service.ports.observing import UNOBSERVED, FigureStore, Observer
from service.ports.people import (
    PasswordHasher,
    PersonalDataStore,
    SecondFactorStore,
    SessionStore,
    UserStore,
)
from service.ports.review import (
    CaseStore,
    ClaimStore,
)
from service.ports.search import CaseSearch
from service.ports.sites import ListEntryStore, SiteStore
from service.ports.training import RetrainingStore, TrainerQueue
from service.scoring.promise import Promise
from service.signals.entry_book import EntryBook

if TYPE_CHECKING:
    from service.learning.taught import Taught


def nothing_taught() -> Taught:
    """Return what is taught where nobody has decided."""
    # Imported late: few processes ask, and numpy takes its time.
    from service.learning.taught import Taught

    return Taught()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonPorts:
    """What every room needs: the time, fresh identifiers, the sites, the log of what people did.

    `new_id(prefix)` returns a fresh identifier that sorts by time, `new_secret()` at least 128
    random bits in URL-safe characters. `one_moment()` is a context within which all that a thread
    reads from the stores is of one moment, that of its first reading, until it writes: what it
    reads after that is of a later one. `observer` is told what happens; by default nobody is.
    """

    clock: Clock
    new_id: Callable[[str], str]
    new_secret: Callable[[], str]
    sites: SiteStore
    audit_log: AuditLog
    one_moment: Callable[[], AbstractContextManager[None]]
    observer: Observer = UNOBSERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakePorts:
    """What lets comments and reports in, and has them wait for their verdict."""

    comments: CommentStore
    queue: ScoringQueue
    reports: ReportStore
    form_challenges: FormChallenges
    spent_tokens: SpentTokens
    backlog: BacklogStore


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPorts:
    """What comes to a verdict.

    `current_model` is asked once a batch, so that a swap of versions never mixes one.
    `current_promise` returns what the serving version's cutoffs promise, None where no version can
    be read; it loads no classifier. `audit_share` is the share of confident verdicts, in [0, 1],
    that goes to a moderator as the audit sample.
    """

    verdicts: VerdictStore
    current_model: Callable[[], JudgingModel]
    current_promise: Callable[[], Promise | None]
    audit_share: float = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersPorts:
    """Which comments belong together."""

    campaigns: CampaignStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ReputationPorts:
    """What is known of senders, and by what they are known again.

    `sender_secrets` key the hashes that recognise senders, `sender_secret` those of Akismet keys
    and of clients held to a rate. `find_system(address)` returns the number of the autonomous
    system that announces an address, None for an unknown one. `entries_in_force` returns what
    moderators allow and block, as it was at most a second ago; it is asked once a batch.
    """

    history: HistoryStore
    rebuild_place: RebuildPlace
    sender_records: SenderRecords
    personal_data: PersonalDataStore
    reputation_lists: ReputationLists
    find_system: Callable[[str], int | None]
    list_entries: ListEntryStore
    entries_in_force: Callable[[], EntryBook]
    sender_secret: bytes
    sender_secrets: SenderSecrets


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPorts:
    """What moderators look at and decide."""

    cases: CaseStore
    decisions: DecisionStore
    bulk_decisions: BulkDecisionStore
    search: CaseSearch
    claims: ClaimStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingPorts:
    """What tells sites, and what their platforms told."""

    endpoints: EndpointStore
    applied: AppliedStore
    deliveries: DeliveryStore
    inbound: InboundStore
    delivery_queue: DeliveryQueue
    notifier: SiteNotifier


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPorts:
    """What learns from decisions.

    `taught` returns what decisions taught, as they were at most a second ago; it is asked once a
    batch; by default nothing.
    """

    retrainings: RetrainingStore
    versions: VersionShelf
    trainer_queue: TrainerQueue
    taught: Callable[[], Taught] = nothing_taught


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsPorts:
    """Who may sign in, and how that is proved.

    `second_factor_secret` keys the second factors: without it, what is kept of them makes no code.
    """

    users: UserStore
    sessions: SessionStore
    second_factors: SecondFactorStore
    passwords: PasswordHasher
    second_factor_secret: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightPorts:
    """What is counted for whoever looks on."""

    figures: FigureStore


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPorts:
    """What carries the daily digest; None for a way that is not set up."""

    digest_claims: DigestClaims
    mailer: Mailer | None = None
    room: Room | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Every room's ports. Built in one place, `service.wiring`.

    Who needs one or two rooms' ports is handed those, and shows by it what it may touch.
    """

    common: CommonPorts
    intake: IntakePorts
    judging: JudgingPorts
    clusters: ClustersPorts
    reputation: ReputationPorts
    review: ReviewPorts
    telling: TellingPorts
    learning: LearningPorts
    accounts: AccountsPorts
    insight: InsightPorts
    digest: DigestPorts
