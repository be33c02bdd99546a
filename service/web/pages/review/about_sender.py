"""Finds, for the page of an opened comment, what this instance knows of whoever sent it."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.sender_record import SenderRecord, Trait
from service.web.edge.language import gettext, noted
from service.web.pages.common.labels import CALLED, RULED
from service.web.pages.common.pages import pages, services

_TRAIT_IN_WORDS = {
    Trait.ADDRESS: noted("Address"),
    Trait.NETWORK: noted("Network"),
    Trait.EMAIL: noted("E-mail"),
    Trait.NAME: noted("Name"),
    Trait.DOMAIN: noted("Linked domain"),
}


pages.add_app_template_filter(lambda trait: gettext(_TRAIT_IN_WORDS[trait]), "trait_name")


def about_sender_view(case: Case, site_ids: Sequence[SiteId] | None) -> SenderRecord | None:
    """Return what is known of a comment's sender from these sites' other comments.

    None where nothing of the sender is kept: nothing came with the comment, or it was withdrawn.
    """
    if case.withdrawn_at is not None:
        return None
    record = services.reputation.sender_records.look_up(case.comment, site_ids=site_ids)
    return record if record.traits else None


@pages.app_template_filter("standing")
def _standing(case: Case) -> str:
    """Return what was concluded of a comment or ruled on it."""
    if case.decision is not None:
        return gettext(RULED[case.decision.ruling])
    if case.verdict is None:
        return gettext("waits for its verdict")
    return gettext(CALLED[case.verdict.outcome])
