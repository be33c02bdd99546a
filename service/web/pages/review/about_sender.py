"""Finds, for the page of an opened comment, what this instance knows of whoever sent it."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.sender_record import SenderRecord
from service.web.pages.common.pages import services


def about_sender_view(case: Case, site_ids: Sequence[SiteId] | None) -> SenderRecord | None:
    """Return what is known of a comment's sender from these sites' other comments.

    None where nothing of the sender is kept: nothing came with the comment, or it was withdrawn.
    """
    if case.withdrawn_at is not None:
        return None
    record = services.reputation.sender_records.look_up(case.comment, site_ids=site_ids)
    return record if record.traits else None
