"""SQL stores, for SQLite (the default) and PostgreSQL."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import sqlalchemy as sa

from service.stores.sql.audit_log import AuditLog
from service.stores.sql.base import prove_write
from service.stores.sql.campaigns import CampaignStore
from service.stores.sql.cases import CaseStore
from service.stores.sql.comments import CommentStore
from service.stores.sql.decisions import BulkDecisionStore, DecisionStore
from service.stores.sql.deliveries import DeliveryStore
from service.stores.sql.engine import create_engine, ping, read_snapshot
from service.stores.sql.figures import FigureStore
from service.stores.sql.list_entries import ListEntryStore
from service.stores.sql.people import SecondFactorStore, SessionStore, UserStore
from service.stores.sql.personal_data import PersonalDataStore
from service.stores.sql.retrainings import RetrainingStore
from service.stores.sql.review_queue import ClaimStore
from service.stores.sql.search import CaseSearch
from service.stores.sql.sites import AppliedStore, EndpointStore, InboundStore, SiteStore
from service.stores.sql.verdicts import ReportStore, VerdictStore

__all__ = ["SqlStores", "create_engine", "ping", "prove_write"]


class SqlStores:
    """The SQL stores over one engine, each named as in `Services`."""

    def __init__(self, engine: sa.Engine) -> None:
        self.comments = CommentStore(engine)
        self.verdicts = VerdictStore(engine)
        self.decisions = DecisionStore(engine)
        self.bulk_decisions = BulkDecisionStore(engine)
        self.cases = CaseStore(engine)
        self.search = CaseSearch(engine)
        self.figures = FigureStore(engine)
        self.campaigns = CampaignStore(engine)
        self.claims = ClaimStore(engine)
        self.sites = SiteStore(engine)
        self.users = UserStore(engine)
        self.sessions = SessionStore(engine)
        self.second_factors = SecondFactorStore(engine)
        self.personal_data = PersonalDataStore(engine)
        self.audit_log = AuditLog(engine)
        self.reports = ReportStore(engine)
        self.endpoints = EndpointStore(engine)
        self.applied = AppliedStore(engine)
        self.deliveries = DeliveryStore(engine)
        self.inbound = InboundStore(engine)
        self.list_entries = ListEntryStore(engine)
        self.retrainings = RetrainingStore(engine)
        self.read_snapshot: Callable[[], AbstractContextManager[None]] = partial(
            read_snapshot, engine
        )
