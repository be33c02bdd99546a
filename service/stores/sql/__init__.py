"""One set of stores over SQL: SQLite by default, PostgreSQL by changing a URL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from service.stores.sql.applied import AppliedStore
from service.stores.sql.audit_log import AuditLog
from service.stores.sql.backlog import BacklogStore
from service.stores.sql.base.engine import (
    Connections,
    create_engine,
    one_moment,
    ping,
)
from service.stores.sql.base.write_probe import prove_write
from service.stores.sql.bulk_decisions import BulkDecisionStore
from service.stores.sql.campaigns import CampaignStore
from service.stores.sql.cases import CaseStore
from service.stores.sql.claims import ClaimStore
from service.stores.sql.comments import CommentStore
from service.stores.sql.decisions import DecisionStore
from service.stores.sql.deliveries import DeliveryStore
from service.stores.sql.endpoints import EndpointStore
from service.stores.sql.figures import FigureStore
from service.stores.sql.inbound import InboundStore
from service.stores.sql.list_entries import ListEntryStore
from service.stores.sql.personal_data import PersonalDataStore
from service.stores.sql.reports import ReportStore
from service.stores.sql.retrainings import RetrainingStore
from service.stores.sql.rule_facts import RuleFactStore
from service.stores.sql.search import CaseSearch
from service.stores.sql.second_factors import SecondFactorStore
from service.stores.sql.sender_records import SenderRecords
from service.stores.sql.sessions import SessionStore
from service.stores.sql.sites import SiteStore
from service.stores.sql.users import UserStore
from service.stores.sql.verdicts import VerdictStore

__all__ = ["Connections", "SqlStores", "create_engine", "ping", "prove_write", "sql_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStores:
    """The SQL adapters that share one engine."""

    backlog: BacklogStore
    comments: CommentStore
    verdicts: VerdictStore
    rule_facts: RuleFactStore
    decisions: DecisionStore
    bulk_decisions: BulkDecisionStore
    cases: CaseStore
    search: CaseSearch
    sender_records: SenderRecords
    figures: FigureStore
    campaigns: CampaignStore
    claims: ClaimStore
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
    list_entries: ListEntryStore
    one_moment: Callable[[], AbstractContextManager[None]]
    retrainings: RetrainingStore


def sql_stores(engine: sa.Engine) -> SqlStores:
    """Return the SQL adapters over this engine, whose schema must be migrated."""
    return SqlStores(
        backlog=BacklogStore(engine),
        comments=CommentStore(engine),
        verdicts=VerdictStore(engine),
        rule_facts=RuleFactStore(engine),
        decisions=DecisionStore(engine),
        bulk_decisions=BulkDecisionStore(engine),
        cases=CaseStore(engine),
        search=CaseSearch(engine),
        sender_records=SenderRecords(engine),
        figures=FigureStore(engine),
        campaigns=CampaignStore(engine),
        claims=ClaimStore(engine),
        sites=SiteStore(engine),
        users=UserStore(engine),
        sessions=SessionStore(engine),
        second_factors=SecondFactorStore(engine),
        personal_data=PersonalDataStore(engine),
        audit_log=AuditLog(engine),
        reports=ReportStore(engine),
        endpoints=EndpointStore(engine),
        applied=AppliedStore(engine),
        deliveries=DeliveryStore(engine),
        inbound=InboundStore(engine),
        list_entries=ListEntryStore(engine),
        one_moment=partial(one_moment, engine),
        retrainings=RetrainingStore(engine),
    )
