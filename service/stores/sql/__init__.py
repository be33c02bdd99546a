"""One set of stores over SQL: SQLite by default, PostgreSQL by changing a URL."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from service.stores.sql.audit_log import SqlAuditLog
from service.stores.sql.cases import SqlCaseStore
from service.stores.sql.comments import SqlCommentStore
from service.stores.sql.decisions import SqlDecisionStore
from service.stores.sql.deliveries import SqlDeliveryStore
from service.stores.sql.endpoints import SqlEndpointStore
from service.stores.sql.engine import create_engine, ping
from service.stores.sql.inbound import SqlInboundStore
from service.stores.sql.reports import SqlReportStore
from service.stores.sql.sites import SqlSiteStore
from service.stores.sql.users import SqlUserStore
from service.stores.sql.verdicts import SqlVerdictStore
from service.stores.sql.write_probe import prove_write

__all__ = ["SqlStores", "create_engine", "ping", "prove_write", "sql_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStores:
    """The SQL adapters that share one engine."""

    comments: SqlCommentStore
    verdicts: SqlVerdictStore
    decisions: SqlDecisionStore
    cases: SqlCaseStore
    sites: SqlSiteStore
    users: SqlUserStore
    audit_log: SqlAuditLog
    reports: SqlReportStore
    endpoints: SqlEndpointStore
    deliveries: SqlDeliveryStore
    inbound: SqlInboundStore


def sql_stores(engine: sa.Engine) -> SqlStores:
    """Return the SQL adapters over this engine, whose schema must be migrated."""
    return SqlStores(
        comments=SqlCommentStore(engine),
        verdicts=SqlVerdictStore(engine),
        decisions=SqlDecisionStore(engine),
        cases=SqlCaseStore(engine),
        sites=SqlSiteStore(engine),
        users=SqlUserStore(engine),
        audit_log=SqlAuditLog(engine),
        reports=SqlReportStore(engine),
        endpoints=SqlEndpointStore(engine),
        deliveries=SqlDeliveryStore(engine),
        inbound=SqlInboundStore(engine),
    )
