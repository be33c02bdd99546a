"""Reads groups of comments, campaigns or rings, from a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

import sqlalchemy as sa

from service.domain.campaign import Campaign, CampaignPage
from service.domain.comment import CommentId, SiteId
from service.ports.campaigns import MemberPage
from service.stores.sql.base.engine import reading
from service.stores.sql.base.statements import chunks
from service.stores.sql.campaign_lists import (
    Groups,
    find_campaign,
    find_waiting_ids,
    list_campaigns,
    list_members,
)
from service.stores.sql.schema.tables import comments


class SqlGroupStore:
    """What stores of groups have in common; see `GroupStore`."""

    groups: ClassVar[Groups]

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def page(
        self,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> CampaignPage:
        """See `GroupStore.page`."""
        with reading(self._engine) as connection:
            return list_campaigns(
                self.groups,
                connection,
                site_ids,
                waiting_only=waiting_only,
                cursor=cursor,
                limit=limit,
            )

    def get(self, group_id: str, *, site_ids: Sequence[SiteId] | None) -> Campaign:
        """See `GroupStore.get`."""
        with reading(self._engine) as connection:
            return find_campaign(self.groups, connection, group_id, site_ids)

    def members(
        self,
        group_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> MemberPage:
        """See `GroupStore.members`."""
        with reading(self._engine) as connection:
            return list_members(
                self.groups,
                connection,
                group_id,
                site_ids,
                waiting_only=waiting_only,
                cursor=cursor,
                limit=limit,
            )

    def waiting_ids(
        self,
        group_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        received_until: datetime,
        limit: int,
    ) -> list[CommentId]:
        """See `GroupStore.waiting_ids`."""
        with reading(self._engine) as connection:
            return find_waiting_ids(
                self.groups,
                connection,
                group_id,
                site_ids,
                received_until=received_until,
                limit=limit,
            )

    def among(self, group_id: str, ids: Sequence[CommentId]) -> set[CommentId]:
        """See `GroupStore.among`."""
        found: set[CommentId] = set()
        with reading(self._engine) as connection:
            for some in chunks(ids):
                query = (
                    sa.select(comments.c.id)
                    .select_from(self.groups.members)
                    .where(comments.c.id.in_(some), self.groups.group_id == group_id)
                )
                found.update(connection.scalars(query))
        return found
