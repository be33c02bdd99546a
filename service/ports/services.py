"""What use cases are handed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.domain.comment import Comment
from service.domain.published import StatementLinks
from service.domain.sender import SenderSecrets
from service.domain.verdict import SecondOpinion
from service.ports.comments import ScoringQueue
from service.ports.delivery import DeliveryQueue, Mailer, Room, SiteNotifier
from service.ports.models import JudgingModel
from service.ports.observing import UNOBSERVED, Observer
from service.ports.training import TrainerQueue
from service.scoring.weights import Promise
from service.signals.entry_book import EntryBook

# By name alone, so that a command that asks no store waits for none.
if TYPE_CHECKING:
    from service.learning.taught import Taught
    from service.stores.files.model_versions import VersionShelf
    from service.stores.files.reputation_lists import ListFolder
    from service.stores.form_challenges import AltchaFormChallenges
    from service.stores.passwords import PasswordHasher
    from service.stores.sql.audit_log import AuditLog
    from service.stores.sql.campaigns import CampaignStore
    from service.stores.sql.cases import CaseStore
    from service.stores.sql.comments import CommentStore
    from service.stores.sql.decisions import BulkDecisionStore, DecisionStore
    from service.stores.sql.deliveries import DeliveryStore
    from service.stores.sql.figures import BacklogStore, FigureStore
    from service.stores.sql.list_entries import ListEntryStore
    from service.stores.sql.people import SecondFactorStore, SessionStore, UserStore
    from service.stores.sql.personal_data import PersonalDataStore, SenderRecords
    from service.stores.sql.retrainings import RetrainingStore
    from service.stores.sql.review_queue import ClaimStore
    from service.stores.sql.search import CaseSearch
    from service.stores.sql.sites import AppliedStore, EndpointStore, InboundStore, SiteStore
    from service.stores.sql.verdicts import ReportStore, RuleFactStore, VerdictStore
    from service.stores.valkey.history import ValkeyHistoryStore
    from service.stores.valkey.notes import DigestClaims, RebuildPlace, SpentTokens


def nothing_taught() -> Taught:
    """Return what is taught where nobody has decided."""
    # Imported late: few processes ask, and numpy takes its time.
    from service.learning.taught import Taught

    return Taught()


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What use cases are handed: stores, and what else they need. Built by `service.wiring`.

    `clock` returns the present moment in UTC, `new_id(prefix)` a fresh identifier that sorts by
    time, `new_secret()` at least 128 random bits in URL-safe characters. Within `one_moment()` all
    that a thread reads from the stores is of one moment, that of its first reading, until it
    writes: what it reads after that is of a later one. `observer` receives events; by default it
    ignores them.

    `current_model` is called once a batch, so that a swap of versions never mixes one.
    `current_promise` returns what the serving version's cutoffs promise, None where no version can
    be read; it loads no classifier. `audit_share` is the share of confident verdicts, in [0, 1],
    that goes to a moderator as the audit sample. `second_judge` is given an unsure comment and its
    site's name; where it fails, it returns None. `taught` returns what decisions taught, at most a
    second old; it is called once a batch.

    `sender_secrets` key the hashes that recognise senders, `sender_secret` those of Akismet keys
    and of rate-limited clients, `second_factor_secret` the second factors. `find_system(address)`
    returns the number of the autonomous system that announces an address, None for an unknown one.
    `entries_in_force` returns what moderators allow and block, at most a second old; it is called
    once a batch. `mailer` and `room` carry the daily digest; None for a way that is not set up.
    """

    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    new_secret: Callable[[], str]
    sites: SiteStore
    audit_log: AuditLog
    one_moment: Callable[[], AbstractContextManager[None]]
    observer: Observer = UNOBSERVED
    # Comments come in and wait for their verdict.
    comments: CommentStore
    queue: ScoringQueue
    reports: ReportStore
    form_challenges: AltchaFormChallenges
    spent_tokens: SpentTokens
    backlog: BacklogStore
    # They are judged and grouped.
    verdicts: VerdictStore
    rule_facts: RuleFactStore
    current_model: Callable[[], JudgingModel]
    current_promise: Callable[[], Promise | None]
    audit_share: float = 0.02
    second_judge: Callable[[Comment, str], SecondOpinion | None] | None = None
    campaigns: CampaignStore
    # What is known of senders.
    history: ValkeyHistoryStore
    rebuild_place: RebuildPlace
    sender_records: SenderRecords
    personal_data: PersonalDataStore
    reputation_lists: ListFolder
    find_system: Callable[[str], int | None]
    list_entries: ListEntryStore
    entries_in_force: Callable[[], EntryBook]
    sender_secret: bytes
    sender_secrets: SenderSecrets
    # Moderators look and decide.
    cases: CaseStore
    decisions: DecisionStore
    bulk_decisions: BulkDecisionStore
    search: CaseSearch
    claims: ClaimStore
    figures: FigureStore
    # Sites and their platforms are told.
    endpoints: EndpointStore
    applied: AppliedStore
    deliveries: DeliveryStore
    inbound: InboundStore
    delivery_queue: DeliveryQueue
    notifier: SiteNotifier
    statements: StatementLinks
    digest_claims: DigestClaims
    mailer: Mailer | None = None
    room: Room | None = None
    # Decisions teach.
    retrainings: RetrainingStore
    versions: VersionShelf
    trainer_queue: TrainerQueue
    taught: Callable[[], Taught] = nothing_taught
    # People sign in.
    users: UserStore
    sessions: SessionStore
    second_factors: SecondFactorStore
    passwords: PasswordHasher
    second_factor_secret: bytes
