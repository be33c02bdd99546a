"""All ports together, as use cases are handed them."""

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
from service.ports.forms import FormChallenges, SpentTokens
from service.ports.history import HistoryStore, RebuildPlace, ReputationLists, SenderRecords
from service.ports.models import (
    BackScoringQueue,
    BackScoringStore,
    JudgingModel,
    ShadowVerdictStore,
    VersionShelf,
)
from service.ports.observing import UNOBSERVED, FigureStore, Observer, TrafficStore
from service.ports.people import (
    PasswordHasher,
    PersonalDataStore,
    SecondFactorStore,
    SessionStore,
    UserStore,
)
from service.ports.reminding import NO_MAILER, NO_ROOM, Mailer, ReminderStore, Room
from service.ports.review import (
    AsideStore,
    CaseStore,
    ClaimStore,
    ReviewWatch,
    ScanCheckStore,
    SenderNoteStore,
)
from service.ports.rings import RingStore
from service.ports.search import CaseSearch, SavedViewStore
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
class Services:
    """What the use cases are handed. Built in one place, `service.wiring`.

    `current_model` is asked once a batch, so that a swap of versions never mixes one.
    `current_promise` returns what the serving version's cutoffs promise, None where no version can
    be read; it loads no classifier. `shadow_name` returns the version that is to be asked beside
    the current one, None for none; `shadow_model` that version, None as long as it is not loaded.
    `find_model(version)` returns any other, None while it is being loaded, and raises
    `ModelUnavailableError` for one that cannot be used.
    `new_id(prefix)` returns a fresh identifier that sorts by time, `new_secret()` at least 128
    random bits in URL-safe characters. `sender_secrets` key the hashes that recognise senders,
    `sender_secret` those of Akismet keys and of clients held to a rate. `find_system(address)`
    returns the number of the autonomous system that announces an address, None for an unknown one.
    `entries_in_force` returns what moderators allow and block, as it was at most a second ago; it
    is asked once a batch, as is `taught`: what decisions taught, as they were at most a second ago;
    by default nothing. `audit_share` is the share of confident verdicts, in [0, 1], that goes to
    a moderator as the audit sample. `second_factor_secret` keys the second factors: without it,
    what is kept of them makes no code. `one_moment()` is a context within which all that a thread
    reads from the stores is of one moment, that of its first reading, until it writes: what it
    reads after that is of a later one.
    `observer` is told what happens; by default nobody is.
    """

    comments: CommentStore
    verdicts: VerdictStore
    decisions: DecisionStore
    bulk_decisions: BulkDecisionStore
    cases: CaseStore
    search: CaseSearch
    saved_views: SavedViewStore
    sender_records: SenderRecords
    figures: FigureStore
    traffic: TrafficStore
    campaigns: CampaignStore
    rings: RingStore
    claims: ClaimStore
    asides: AsideStore
    scan_checks: ScanCheckStore
    sender_notes: SenderNoteStore
    watch: ReviewWatch
    sites: SiteStore
    users: UserStore
    sessions: SessionStore
    second_factors: SecondFactorStore
    personal_data: PersonalDataStore
    audit_log: AuditLog
    reports: ReportStore
    endpoints: EndpointStore
    applied: AppliedStore
    deliveries: DeliveryStore
    inbound: InboundStore
    shadow_verdicts: ShadowVerdictStore
    back_scorings: BackScoringStore
    back_scoring_queue: BackScoringQueue
    delivery_queue: DeliveryQueue
    notifier: SiteNotifier
    history: HistoryStore
    rebuild_place: RebuildPlace
    queue: ScoringQueue
    current_model: Callable[[], JudgingModel]
    current_promise: Callable[[], Promise | None]
    shadow_name: Callable[[], str | None]
    shadow_model: Callable[[], JudgingModel | None]
    find_model: Callable[[str], JudgingModel | None]
    clock: Clock
    passwords: PasswordHasher
    new_id: Callable[[str], str]
    new_secret: Callable[[], str]
    second_factor_secret: bytes
    sender_secret: bytes
    sender_secrets: SenderSecrets
    reputation_lists: ReputationLists
    find_system: Callable[[str], int | None]
    list_entries: ListEntryStore
    entries_in_force: Callable[[], EntryBook]
    retrainings: RetrainingStore
    versions: VersionShelf
    trainer_queue: TrainerQueue
    backlog: BacklogStore
    form_challenges: FormChallenges
    spent_tokens: SpentTokens
    reminders: ReminderStore
    mailer: Mailer = NO_MAILER
    room: Room = NO_ROOM
    taught: Callable[[], Taught] = nothing_taught
    audit_share: float = 0.02
    one_moment: Callable[[], AbstractContextManager[None]]
    observer: Observer = UNOBSERVED
