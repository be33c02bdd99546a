"""The container of dependencies that use cases receive."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.domain.comment import Comment
from service.domain.published import StatementLinks
from service.domain.sender import SenderSecrets
from service.domain.user import Mail, Sent
from service.domain.verdict import SecondOpinion
from service.ports.comments import ScoringQueue
from service.ports.delivery import SiteNotifier, Waker
from service.ports.models import JudgingModel
from service.ports.observing import Observer
from service.scoring.weights import Promise
from service.signals.list_entry_index import ListEntryIndex

# For type checking only: importing the stores would slow down commands that use none.
if TYPE_CHECKING:
    from service.learning.learned_state import LearnedState
    from service.stores.files.model_versions import VersionRegistry
    from service.stores.files.reputation_lists import ListFolder
    from service.stores.form_challenges import AltchaFormChallenges
    from service.stores.passwords import PasswordHasher
    from service.stores.sql.audit_log import AuditLog
    from service.stores.sql.campaigns import CampaignStore
    from service.stores.sql.cases import CaseStore
    from service.stores.sql.comments import CommentStore
    from service.stores.sql.decisions import BulkDecisionStore, DecisionStore
    from service.stores.sql.deliveries import DeliveryStore
    from service.stores.sql.figures import FigureStore
    from service.stores.sql.list_entries import ListEntryStore
    from service.stores.sql.people import SecondFactorStore, SessionStore, UserStore
    from service.stores.sql.personal_data import PersonalDataStore
    from service.stores.sql.retrainings import RetrainingStore
    from service.stores.sql.review_queue import ClaimStore
    from service.stores.sql.search import CaseSearch
    from service.stores.sql.sites import AppliedStore, EndpointStore, InboundStore, SiteStore
    from service.stores.sql.verdicts import ReportStore, VerdictStore
    from service.stores.valkey.history import ValkeyHistoryStore
    from service.stores.valkey.notes import DigestClaims, RebuildPlace, SpentTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The stores and other dependencies of use cases. `service.wiring` builds it.

    `clock` returns the current time in UTC, `new_id(prefix)` a new identifier that sorts by time,
    `new_secret()` at least 128 random bits in URL-safe characters. Within `read_snapshot()` all
    reads of a thread see one snapshot of the database, until the thread writes.

    `current_model` and `learned` are called once per batch, so that a batch never mixes versions.
    `learned` returns what decisions taught, at most a second old. `current_promise` returns what
    the serving version's cutoffs promise, None if no version can be read; it loads no classifier.
    `audit_share` is the share of confident verdicts, in [0, 1], that moderators review as the audit
    sample. `second_judge` receives an unsure comment and its site's name; it returns None if it
    fails.

    `sender_secrets` key the hashes of senders, `sender_secret` those of Akismet keys and of
    rate-limited clients, `second_factor_secret` those of second factors. `find_system(address)`
    returns the number of the autonomous system that announces an address, None if unknown.
    `entries_in_force` returns the allow and block entries, at most a second old; it is called once
    per batch. `send_mail` and `post_to_chat` send the daily digest within a time limit and never
    raise; None if not configured.
    """

    clock: Callable[[], datetime]
    new_id: Callable[[str], str]
    new_secret: Callable[[], str]
    sites: SiteStore
    audit_log: AuditLog
    read_snapshot: Callable[[], AbstractContextManager[None]]
    observer: Observer
    # Comments are submitted and wait for their verdicts.
    comments: CommentStore
    queue: ScoringQueue
    reports: ReportStore
    form_challenges: AltchaFormChallenges
    spent_tokens: SpentTokens
    # Comments are judged and grouped.
    verdicts: VerdictStore
    current_model: Callable[[], JudgingModel]
    current_promise: Callable[[], Promise | None]
    audit_share: float
    second_judge: Callable[[Comment, str], SecondOpinion | None] | None = None
    campaigns: CampaignStore
    # Senders.
    history: ValkeyHistoryStore
    rebuild_place: RebuildPlace
    personal_data: PersonalDataStore
    reputation_lists: ListFolder
    find_system: Callable[[str], int | None]
    list_entries: ListEntryStore
    entries_in_force: Callable[[], ListEntryIndex]
    sender_secret: bytes
    sender_secrets: SenderSecrets
    # Moderators search and decide.
    cases: CaseStore
    decisions: DecisionStore
    bulk_decisions: BulkDecisionStore
    search: CaseSearch
    claims: ClaimStore
    figures: FigureStore
    # Sites and their platforms are notified.
    endpoints: EndpointStore
    applied: AppliedStore
    deliveries: DeliveryStore
    inbound: InboundStore
    delivery_queue: Waker
    notifier: SiteNotifier
    statements: StatementLinks
    digest_claims: DigestClaims
    send_mail: Callable[[Mail], Sent] | None = None
    post_to_chat: Callable[[str], Sent] | None = None
    # Training.
    retrainings: RetrainingStore
    versions: VersionRegistry
    trainer_queue: Waker
    learned: Callable[[], LearnedState]
    # Sign-in.
    users: UserStore
    sessions: SessionStore
    second_factors: SecondFactorStore
    passwords: PasswordHasher
    second_factor_secret: bytes
