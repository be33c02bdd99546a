"""One set of stores over SQL: SQLite by default, PostgreSQL by changing a URL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa

from service.stores.sql.applied import SqlAppliedStore
from service.stores.sql.audit_log import SqlAuditLog
from service.stores.sql.backlog import SqlBacklogStore
from service.stores.sql.base.engine import (
    Connections,
    create_engine,
    one_moment,
    ping,
)
from service.stores.sql.base.write_probe import prove_write
from service.stores.sql.bulk_decisions import SqlBulkDecisionStore
from service.stores.sql.campaigns import SqlCampaignStore
from service.stores.sql.cases import SqlCaseStore
from service.stores.sql.claims import SqlClaimStore
from service.stores.sql.comments import SqlCommentStore
from service.stores.sql.decisions import SqlDecisionStore
from service.stores.sql.deliveries import SqlDeliveryStore
from service.stores.sql.endpoints import SqlEndpointStore
from service.stores.sql.figures import SqlFigureStore
from service.stores.sql.inbound import SqlInboundStore
from service.stores.sql.list_entries import SqlListEntryStore
from service.stores.sql.personal_data import SqlPersonalDataStore
from service.stores.sql.reports import SqlReportStore
from service.stores.sql.retrainings import SqlRetrainingStore
from service.stores.sql.search import SqlCaseSearch
from service.stores.sql.second_factors import SqlSecondFactorStore
from service.stores.sql.sender_records import SqlSenderRecords
from service.stores.sql.sessions import SqlSessionStore
from service.stores.sql.sites import SqlSiteStore
from service.stores.sql.users import SqlUserStore
from service.stores.sql.verdicts import SqlVerdictStore

__all__ = ["Connections", "SqlStores", "create_engine", "ping", "prove_write", "sql_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStores:
    """The SQL adapters that share one engine."""

    backlog: SqlBacklogStore
    comments: SqlCommentStore
    verdicts: SqlVerdictStore
    decisions: SqlDecisionStore
    bulk_decisions: SqlBulkDecisionStore
    cases: SqlCaseStore
    search: SqlCaseSearch
    sender_records: SqlSenderRecords
    figures: SqlFigureStore
    campaigns: SqlCampaignStore
    claims: SqlClaimStore
    sites: SqlSiteStore
    users: SqlUserStore
    sessions: SqlSessionStore
    second_factors: SqlSecondFactorStore
    personal_data: SqlPersonalDataStore
    audit_log: SqlAuditLog
    reports: SqlReportStore
    endpoints: SqlEndpointStore
    applied: SqlAppliedStore
    deliveries: SqlDeliveryStore
    inbound: SqlInboundStore
    list_entries: SqlListEntryStore
    one_moment: Callable[[], AbstractContextManager[None]]
    retrainings: SqlRetrainingStore


def sql_stores(engine: sa.Engine) -> SqlStores:
    """Return the SQL adapters over this engine, whose schema must be migrated."""
    return SqlStores(
        backlog=SqlBacklogStore(engine),
        comments=SqlCommentStore(engine),
        verdicts=SqlVerdictStore(engine),
        decisions=SqlDecisionStore(engine),
        bulk_decisions=SqlBulkDecisionStore(engine),
        cases=SqlCaseStore(engine),
        search=SqlCaseSearch(engine),
        sender_records=SqlSenderRecords(engine),
        figures=SqlFigureStore(engine),
        campaigns=SqlCampaignStore(engine),
        claims=SqlClaimStore(engine),
        sites=SqlSiteStore(engine),
        users=SqlUserStore(engine),
        sessions=SqlSessionStore(engine),
        second_factors=SqlSecondFactorStore(engine),
        personal_data=SqlPersonalDataStore(engine),
        audit_log=SqlAuditLog(engine),
        reports=SqlReportStore(engine),
        endpoints=SqlEndpointStore(engine),
        applied=SqlAppliedStore(engine),
        deliveries=SqlDeliveryStore(engine),
        inbound=SqlInboundStore(engine),
        list_entries=SqlListEntryStore(engine),
        one_moment=partial(one_moment, engine),
        retrainings=SqlRetrainingStore(engine),
    )
